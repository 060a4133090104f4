#pragma once
// SEQPACKET messages with descriptors: the only wire between the daemon, template zygotes
// and cells. Every message is one fixed-size struct; its descriptors are identified by
// position.

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"

namespace sys {

inline constexpr size_t kMaxDescriptors = 16;

struct SocketPair {
  OwnedFd ours;
  OwnedFd theirs;
};
Result<SocketPair> seqpacket_pair();

// Sends one message. Does not block longer than the socket does; EAGAIN is an error like any other.
Result<void> send_message(int socket, std::span<const std::byte> bytes,
                          std::span<const int> fds = {});

struct Received {
  size_t size = 0;           // 0: the peer is gone
  std::vector<OwnedFd> fds;  // CLOEXEC
};
// One message into `into`. A message that does not fit, or whose descriptors do not, is an error. A
// peer that left without reading everything is not: the kernel says so before it gives out what the
// peer had sent (ECONNRESET, once; net/unix/af_unix.c), which comes here as always, and then size
// 0.
Result<Received> receive_message(int socket, std::span<std::byte> into, int flags = 0);

template <typename T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span<const T, 1>(&value, 1));
}
template <typename T>
std::span<std::byte> writable_bytes_of(T& value) {
  return std::as_writable_bytes(std::span<T, 1>(&value, 1));
}

}  // namespace sys
