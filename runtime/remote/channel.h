#pragma once
// Channel: one end of the socket between the front and the engine. Messages keep their borders
// (SOCK_SEQPACKET). Short ones are packets; long ones go as a sealed file in memory, which nobody
// can change while it is read. Sending is for any thread, receiving for one.

#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"

namespace runtime {

// A message that is ready to be sent. Making one may fail; sending it does not fail for its sake.
struct Packet {
  std::string bytes;
  std::vector<sys::OwnedFd> fds;
};

class Channel {
 public:
  static constexpr size_t kLongest = size_t{64} << 10;  // of a packet
  static constexpr uint64_t kMost = uint64_t{8} << 30;  // of a message
  static constexpr size_t kMostDescriptors = 4;         // of a message, the file included

  class Message {
   public:
    Message() = default;
    Message(Message&& other) noexcept;
    Message& operator=(Message&& other) noexcept;
    ~Message();
    std::string_view bytes() const {
      return mapped_ ? std::string_view(mapped_, size_) : std::string_view(packet_);
    }
    bool is_long() const { return mapped_ != nullptr; }
    std::vector<sys::OwnedFd> fds;

   private:
    friend class Channel;
    std::string packet_;
    const char* mapped_ = nullptr;
    size_t size_ = 0;
  };

  explicit Channel(sys::OwnedFd socket);

  static sys::Result<Packet> packed(std::string bytes, std::vector<sys::OwnedFd> fds = {});

  // In the order of the calls. False: something waits for room, and flush() is to be called when
  // there is some. A channel that is broken takes everything and sends nothing.
  bool send(Packet packet);
  bool flush();

  // The next message; none: there is none yet. An error: the other end is gone (EPIPE), or has
  // sent what is no message.
  sys::Result<std::optional<Message>> receive();
  // The same, and waits for it.
  sys::Result<Message> await();

  int fd() const { return socket_.get(); }

 private:
  bool push();
  sys::Result<Message> open(std::string packet, std::vector<sys::OwnedFd> fds) const;

  const sys::OwnedFd socket_;
  std::mutex mutex_;
  std::deque<Packet> waiting_;
  std::string room_;  // for what is received
};

// Tells whether it is a file in memory that nobody can change any more.
bool is_sealed(int fd);

}  // namespace runtime
