#pragma once
// The program's stdin: a pipe of its own, fed from bytes on the shard's loop, or from a descriptor
// of the caller (a terminal, a file, a pipe) by a thread, because only a thread can read any kind
// of descriptor without changing its flags for everybody else. The program never sees the original.

#include <memory>
#include <string>

#include "runtime/cell/handles.h"
#include "runtime/loop/loop.h"
#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"

namespace runtime {

class StdinFeed : public JobInput {
 public:
  // `bytes` is borrowed until the feed is dropped.
  static sys::Result<std::unique_ptr<StdinFeed>> from_bytes(Loop& loop, const std::string& bytes);
  static sys::Result<std::unique_ptr<StdinFeed>> from_descriptor(int fd);
  ~StdinFeed() override;

  int reader() const override { return reader_.get(); }
  void sent() override { reader_.reset(); }

 private:
  void write_some();

  sys::OwnedFd reader_, writer_;
  const std::string* bytes_ = nullptr;
  size_t written_ = 0;
  std::unique_ptr<Writable> ready_;
};

}  // namespace runtime
