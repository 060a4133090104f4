#pragma once
// The only memory that a cell's processes and the daemon share: the request of a job
// (RequestMemory) and its answer (SharedAnswer, answer.h). Neither can hold anything of another
// job: the files cannot grow or shrink, so a mapping shows its own job's bytes and nothing behind
// them, and memory that serves several jobs is zeroed between them.

#include <string_view>

#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"

namespace runtime {

// A file of zeros in memory whose size never changes.
class SharedMemory {
 public:
  SharedMemory() = default;
  // Makes a file of `bytes`, rounded up to whole pages.
  static sys::Result<SharedMemory> create(const char* name, size_t bytes);

  int fd() const { return fd_.get(); }
  size_t bytes() const { return bytes_; }

  // Makes all of it zeros again and gives back the memory that it has beyond a page or two. False:
  // it must not serve another job.
  bool clear() const;

 private:
  sys::OwnedFd fd_;
  size_t bytes_ = 0;
};

// The requests of a cell's jobs, one after another. Short ones, which jobs copy, lie in one file,
// which is cleared after each. A longer one, which a job may map, gets a file of its own, of
// exactly its size and sealed against every change, that goes with its job.
class RequestMemory {
 public:
  RequestMemory() = default;
  static sys::Result<RequestMemory> create();

  // For the cell: the file of short requests, by a description that cannot write.
  sys::Result<sys::OwnedFd> for_reading() const;
  // Lays the next request down. Its own file, if it is a long one; otherwise empty.
  sys::Result<sys::OwnedFd> put(std::string_view request);
  // After the job. False: the cell must not serve another.
  bool clear();

 private:
  SharedMemory short_;
  bool is_clear_ = true;
};

}  // namespace runtime
