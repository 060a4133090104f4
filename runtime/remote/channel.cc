#include "runtime/remote/channel.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <utility>

#include "sandbox/sys/file.h"
#include "sandbox/sys/socket.h"

namespace runtime {

using sys::Error;
using sys::Result;

namespace {

// A packet that says: the message is the first descriptor.
constexpr char kInFile = '\0';
constexpr int kRoomAsked = 4 << 20;  // of the socket's buffers; the kernel may give less

}  // namespace

Channel::Message::Message(Message&& other) noexcept
    : fds(std::move(other.fds)),
      packet_(std::move(other.packet_)),
      mapped_(std::exchange(other.mapped_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

Channel::Message& Channel::Message::operator=(Message&& other) noexcept {
  Message old(std::move(*this));
  fds = std::move(other.fds);
  packet_ = std::move(other.packet_);
  mapped_ = std::exchange(other.mapped_, nullptr);
  size_ = std::exchange(other.size_, 0);
  return *this;
}

Channel::Message::~Message() {
  if (mapped_) ::munmap(const_cast<char*>(mapped_), size_);
}

bool is_sealed(int fd) {
  constexpr int kSeals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW;
  const int seals = ::fcntl(fd, F_GET_SEALS);
  return seals >= 0 && (seals & kSeals) == kSeals;
}

Channel::Channel(sys::OwnedFd socket) : socket_(std::move(socket)), room_(kLongest, '\0') {
  ::fcntl(socket_.get(), F_SETFL, O_NONBLOCK);
  // Beyond the host's usual bound where we may (socket(7)); a burst of jobs does not wait then.
  if (::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDBUFFORCE, &kRoomAsked, sizeof kRoomAsked) < 0)
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDBUF, &kRoomAsked, sizeof kRoomAsked);
}

Result<Packet> Channel::packed(std::string bytes, std::vector<sys::OwnedFd> fds) {
  VERIFY(fds.size() < kMostDescriptors);
  if (bytes.size() <= kLongest) return Packet{std::move(bytes), std::move(fds)};
  if (bytes.size() > kMost) return Error::from_errno("a message", EFBIG);
  fds.insert(fds.begin(), TRY(sys::sealed_memfd("zygo-message", bytes)));
  return Packet{std::string(1, kInFile), std::move(fds)};
}

bool Channel::send(Packet packet) {
  std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(packet));
  return waiting_.size() > 1 ? false : push();
}

bool Channel::flush() {
  std::lock_guard lock(mutex_);
  return push();
}

bool Channel::push() {
  while (!waiting_.empty()) {
    const Packet& next = waiting_.front();
    int fds[kMostDescriptors];
    for (size_t i = 0; i < next.fds.size(); ++i) fds[i] = next.fds[i].get();
    const Result<void> sent = sys::send_message(socket_.get(), std::as_bytes(std::span(next.bytes)),
                                                std::span<const int>(fds, next.fds.size()));
    if (!sent) {
      const int error = sent.error().code();
      // Descriptors on their way are counted (ETOOMANYREFS, unix(7)): the other end takes them.
      const bool has_no_room = error == EAGAIN || error == ENOBUFS || error == ETOOMANYREFS;
      if (has_no_room) return false;
      waiting_.clear();  // the other end is gone, as receive() tells
      return true;
    }
    waiting_.pop_front();
  }
  return true;
}

Result<Channel::Message> Channel::open(std::string packet, std::vector<sys::OwnedFd> fds) const {
  Message message;
  if (packet.empty() || fds.size() > kMostDescriptors) return Error::because("no message");
  if (packet.front() != kInFile) {
    message.packet_ = std::move(packet);
    message.fds = std::move(fds);
    return message;
  }
  if (fds.empty() || packet.size() != 1 || !is_sealed(fds.front().get()))
    return Error::because("a message that is no sealed file");
  struct stat info {};
  if (::fstat(fds.front().get(), &info) < 0) return Error::from_errno("a message");
  const auto size = static_cast<uint64_t>(info.st_size);
  if (size == 0 || size > kMost) return Error::because("a message of no length that it may have");
  // Private: kernels before 6.7 share no file that is sealed against writing.
  void* const mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fds.front().get(), 0);
  if (mapped == MAP_FAILED) return Error::from_errno("map a message");
  message.mapped_ = static_cast<const char*>(mapped);
  message.size_ = size;
  fds.erase(fds.begin());
  message.fds = std::move(fds);
  return message;
}

Result<std::optional<Channel::Message>> Channel::receive() {
  Result<sys::Received> received =
      sys::receive_message(fd(), std::as_writable_bytes(std::span(room_)), MSG_DONTWAIT);
  if (!received) {
    if (received.error().code() == EAGAIN) return std::optional<Message>();
    return std::move(received).error();
  }
  if (received->size == 0) return Error::from_errno("the other end is gone", EPIPE);
  Message message = TRY(open(room_.substr(0, received->size), std::move(received->fds)));
  return std::optional<Message>(std::move(message));
}

Result<Channel::Message> Channel::await() {
  for (;;) {
    pollfd watched{fd(), POLLIN, 0};
    if (::poll(&watched, 1, -1) < 0 && errno != EINTR) return Error::from_errno("poll");
    std::optional<Message> message = TRY(receive());
    if (message) return std::move(*message);
  }
}

}  // namespace runtime
