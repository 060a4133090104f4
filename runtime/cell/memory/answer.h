#pragma once
// The answer region of a cell as the daemon sees it: memory that the cell's processes write and the
// daemon only reads, after every process of the job is gone.

#include <optional>
#include <string>

#include "runtime/cell/memory/shared_memory.h"
#include "sandbox/sys/result.h"
#include "shim/value_format.h"

namespace runtime {

class SharedAnswer {
 public:
  SharedAnswer() = default;
  SharedAnswer(SharedAnswer&& other) noexcept { *this = std::move(other); }
  SharedAnswer& operator=(SharedAnswer&& other) noexcept;
  ~SharedAnswer();
  static sys::Result<SharedAnswer> create(size_t payload_capacity);

  int fd() const { return memory_.fd(); }
  size_t bytes() const { return memory_.bytes(); }

  struct Answer {
    shim::AnswerKind kind = shim::AnswerKind::kNothing;
    std::string payload;
  };
  // The answer, if its header carries `nonce`. A payload longer than `most` or than the region is
  // nothing a correct core writes: nullopt.
  size_t size() const;  // of its payload, as its header says
  std::optional<Answer> take(uint64_t nonce, size_t most) const;

  // Testimony about the operation that was refused just now: event name and line.
  struct Note {
    uint64_t count = 0;
    int line = -1;
    std::string event;
  };
  Note note() const;

  // Takes every byte of a job out of the region, which the next job of the cell has mapped as well,
  // and gives back the memory that it occupied. False: the region must not serve another job.
  bool clear() const { return memory_.clear(); }

 private:
  const shim::AnswerRegion* region() const { return static_cast<const shim::AnswerRegion*>(at_); }
  SharedMemory memory_;
  void* at_ = nullptr;
};

}  // namespace runtime
