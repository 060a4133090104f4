#pragma once
// Sockets: the five of a kernel. One thread. Owns a context of ZeroMQ, which has a thread of its
// own, and answers heartbeats by itself.

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "tools/cli/kernel/connection_file.h"
#include "tools/cli/kernel/wire.h"
#include "tools/cli/kernel/zmq_library.h"

namespace cli {

class Sockets {
 public:
  static sys::Result<std::unique_ptr<Sockets>> bind(const ConnectionFile& file);
  ~Sockets();
  Sockets(const Sockets&) = delete;

  // A message that is there; none: there is none.
  std::optional<Frames> receive(Channel channel);
  // One that nobody takes is dropped.
  void send(Channel channel, const Frames& frames);

  struct Watched {
    int fd = -1;  // less than 0: not watched
    short events = 0;
    bool ready = false;
  };
  // Until a channel has a message, which receive() tells, or one of `others` is ready.
  void wait(std::vector<Watched>& others);

 private:
  explicit Sockets(const ZmqLibrary& zmq) : zmq_(zmq) {}
  sys::Error failed(std::string_view what) const;
  sys::Result<void> open(Channel channel, const std::string& endpoint);
  void* at(Channel channel) const { return sockets_[static_cast<size_t>(channel)]; }
  void answer_heartbeats();

  const ZmqLibrary zmq_;
  void* context_ = nullptr;
  std::array<void*, kChannels> sockets_{};
};

}  // namespace cli
