#pragma once
// Outbox: where finished jobs go, and the count of those that are under way. Shards call finished()
// from their threads; the batch loop asks whether there is room for more. A job is under way from
// began() until its result has left through the writer: this bounds the memory of a batch. Shared
// by the loop and by the callbacks that the engine holds, so it outlives both.

#include <atomic>
#include <memory>
#include <mutex>

#include "runtime/job/result.h"
#include "tools/cli/batch/result_writer.h"
#include "tools/cli/batch/tally.h"

namespace cli {

class Outbox {
 public:
  struct Bounds {
    size_t jobs = 0;
    size_t bytes = size_t{512} << 20;  // of jobs waiting and results not yet written
  };
  static sys::Result<std::shared_ptr<Outbox>> open(int out, Bounds bounds);

  void began(size_t bytes);
  void finished(const runtime::JobResult& result, size_t bytes);  // any thread
  void skipped(std::string_view label, Tally::Kind kind);  // has a result from an earlier run
  // From now on long bytes of results leave as parts (runtime/values/parts.h), unless they go into
  // a file, which consists of lines.
  void write_parts() { with_parts_ = writer_->may_block(); }
  void drop_cancelled() { dropping_ = true; }  // from now on Cancelled results are not written

  bool has_room() const { return jobs_ < bounds_.jobs && bytes_ < bounds_.bytes; }
  size_t under_way() const { return jobs_; }

  enum class Wake { kNever, kRoom, kEmpty };
  // When wake_fd() shall become readable: half the window is free, or nothing is under way. Once
  // the writer breaks, it does in any case.
  void wake_on(Wake wake) { wake_on_ = wake; }
  int wake_fd() const { return wake_.get(); }
  void calm();  // reads wake_fd() empty

  Tally tally() const;
  ResultWriter& writer() { return *writer_; }

 private:
  Outbox(Bounds bounds, sys::OwnedFd wake) : bounds_(bounds), wake_(std::move(wake)) {}
  void settled(size_t jobs, size_t bytes);

  Bounds bounds_;
  sys::OwnedFd wake_;
  std::atomic<size_t> jobs_{0}, bytes_{0};
  std::atomic<Wake> wake_on_{Wake::kNever};
  std::atomic<bool> dropping_{false}, with_parts_{false};
  mutable std::mutex mutex_;
  Tally tally_;
  std::unique_ptr<ResultWriter> writer_;  // last: its thread calls settled()
};

}  // namespace cli
