#pragma once
// LiveInput: the stdin of a live job on its way to its pilot, as fast as the program there reads
// it. Loop thread only.

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "runtime/job/live_io.h"
#include "runtime/loop/loop.h"

namespace cluster {

class LiveInput {
 public:
  // So many bytes are on their way at most.
  static constexpr uint64_t kAhead = uint64_t{256} << 10;
  using Send = std::function<void(std::string_view bytes, bool is_last)>;

  LiveInput(runtime::Loop& loop, std::shared_ptr<runtime::LiveIo> io, Send send);

  void taken(uint64_t bytes);  // by the program
  bool has_sent() const { return sent_ > 0 || ended_; }

 private:
  void pump();

  const std::shared_ptr<runtime::LiveIo> io_;
  const Send send_;
  runtime::Readable readable_;
  uint64_t sent_ = 0, taken_ = 0;
  bool ended_ = false;
};

}  // namespace cluster
