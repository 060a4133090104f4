#pragma once
// The channels of the Jupyter protocol, and the clients at their other ends.

#include <cstddef>
#include <cstdint>

#include "service/jupyter/message.h"

namespace service::jupyter {

enum class Channel : uint8_t { kShell, kIopub, kStdin, kControl, kHeartbeat };
inline constexpr size_t kChannels = 5;

class Clients {
 public:
  virtual ~Clients() = default;
  // On kIopub to all of them, else to the one whose `identities` it has. One that nobody takes is
  // dropped.
  virtual void send(Channel channel, const Message& message) = 0;
  // Have they taken what was sent so far, but for a bounded rest? If not, the kernel says no more
  // of what a cell writes, and begins no other request, until look() is called again.
  virtual bool has_room() const = 0;
  // Gives the kernel whatever they have sent already.
  virtual void gather() = 0;
};

}  // namespace service::jupyter
