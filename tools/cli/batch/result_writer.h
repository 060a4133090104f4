#pragma once
// ResultWriter: one thread that writes finished lines to one descriptor. Shards push from their own
// threads and never wait for the disk, the reader or a copy of what others have pushed: they keep
// deadlines. A line is written at once when nothing is queued; under load many go in one write.
// Borrows the descriptor; owns the thread.

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"

namespace cli {

class ResultWriter {
 public:
  enum class State { kOpen, kReaderGone, kFailed };
  // Told after each write, and once when the descriptor breaks: so many lines of so many bytes have
  // left (written, or dropped because the descriptor is broken). Called on the writer's thread.
  using Settled = std::function<void(size_t lines, size_t bytes)>;

  static sys::Result<std::unique_ptr<ResultWriter>> start(int out, Settled settled);
  ~ResultWriter();  // gives up on what is not written yet
  ResultWriter(const ResultWriter&) = delete;
  ResultWriter& operator=(const ResultWriter&) = delete;

  // A line with its newline, behind the parts that stand in front of it; any thread.
  void push(std::string line);
  bool may_block() const { return may_block_; }  // it is no regular file
  State state() const { return state_.load(); }
  sys::Error error() const;  // of kFailed
  // Waits until everything is written or cannot be: true when it was.
  bool drain(std::chrono::milliseconds patience);

 private:
  ResultWriter(int out, Settled settled, sys::OwnedFd stop);
  void work();
  void write_all(std::vector<std::string> lines);
  void write_bytes(std::string_view bytes);
  ssize_t write_some(std::string_view bytes);

  int out_;
  bool may_block_;  // not a regular file: written in pieces that cannot block past poll(2)
  bool is_socket_;
  bool can_refuse_ = true;  // the kernel can be asked to write what fits (RWF_NOWAIT)
  Settled settled_;
  sys::OwnedFd stop_;  // eventfd: readable when the thread is to end

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> pending_;  // lines
  bool busy_ = false, stopping_ = false;
  int code_ = 0;
  std::atomic<State> state_{State::kOpen};
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace cli
