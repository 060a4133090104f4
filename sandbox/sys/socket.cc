#include "sandbox/sys/socket.h"

#include <cstring>

namespace sys {

namespace {
union ControlBuffer {
  char bytes[CMSG_SPACE(sizeof(int) * kMaxDescriptors)];
  cmsghdr align;
};
}  // namespace

Result<SocketPair> seqpacket_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
    return Error::from_errno("socketpair");
  }
  return SocketPair{OwnedFd(ends[0]), OwnedFd(ends[1])};
}

Result<void> send_message(int socket, std::span<const std::byte> bytes, std::span<const int> fds) {
  VERIFY(fds.size() <= kMaxDescriptors);
  iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  ControlBuffer control{};
  if (!fds.empty()) {
    message.msg_control = control.bytes;
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
  }
  for (;;) {
    ssize_t n = ::sendmsg(socket, &message, MSG_NOSIGNAL);
    if (n >= 0) return {};
    if (errno != EINTR) return Error::from_errno("send message");
  }
}

Result<Received> receive_message(int socket, std::span<std::byte> into, int flags) {
  iovec part{into.data(), into.size()};
  ControlBuffer control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  ssize_t n;
  do {
    n = ::recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
  } while (n < 0 && (errno == EINTR || errno == ECONNRESET));
  if (n < 0) return Error::from_errno("receive message");

  Received received{static_cast<size_t>(n), {}};
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
      received.fds.emplace_back(fd);
    }
  }
  if (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
    return Error::from_errno("receive message", EMSGSIZE);
  }
  return received;
}

}  // namespace sys
