#include "tools/cli/batch/guests.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "sandbox/sys/file.h"
#include "sandbox/sys/socket.h"
#include "sandbox/sys/thread.h"

namespace cli {

using sys::Error;
using sys::OwnedFd;
using sys::Result;

namespace {

bool is_unix_socket(int fd, int type) {
  int domain = 0, found = 0;
  socklen_t size = sizeof(int);
  return ::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX &&
         ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &found, &size) == 0 && found == type;
}

// A process that has changed its uid since is not who the runtime was started for.
bool may_enter(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return is_unix_socket(socket, SOCK_STREAM) &&
         ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         peer.uid == ::geteuid();
}

}  // namespace

Result<std::unique_ptr<Guests>> Guests::open(int door, Serve serve) {
  if (!is_unix_socket(door, SOCK_SEQPACKET)) {
    return Error::because("descriptor " + std::to_string(door) + " is no SEQPACKET unix socket");
  }
  OwnedFd owned(door);
  OwnedFd gone(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!gone) return Error::from_errno("eventfd");
  return std::unique_ptr<Guests>(new Guests(std::move(owned), std::move(gone), std::move(serve)));
}

void Guests::answer_the_door() {
  char letter[8];
  auto message = sys::receive_message(door_.get(), std::as_writable_bytes(std::span(letter)));
  if (!message && message.error().code() == EMSGSIZE) return;  // of another form
  if (!message || message->size == 0) return door_.reset();    // nobody is left who could come
  join_the_gone();
  if (message->fds.size() == 1) admit(std::move(message->fds.front()));
}

size_t Guests::present() {
  std::lock_guard lock(mutex_);
  return present_;
}

void Guests::see_out() {
  while (present() > 0) {
    std::array<pollfd, 2> entries{{{door_.get(), POLLIN, 0}, {gone_.get(), POLLIN, 0}}};
    if (::poll(entries.data(), entries.size(), -1) < 0) continue;  // EINTR
    uint64_t count = 0;
    [[maybe_unused]] ssize_t n = ::read(gone_.get(), &count, sizeof count);
    if (entries[0].revents != 0) answer_the_door();
  }
  door_.reset();
  join_the_gone();
}

void Guests::admit(OwnedFd socket) {
  if (!may_enter(socket.get()) || present() == kMost) return;
  Guest* guest = nullptr;
  {
    std::lock_guard lock(mutex_);
    ++present_;
    guest = &guests_.emplace_back();
  }
  auto leave = [this, guest] {
    std::lock_guard lock(mutex_);
    guest->gone = true;
    --present_;
    const uint64_t one = 1;
    [[maybe_unused]] ssize_t n = ::write(gone_.get(), &one, sizeof one);
  };
  auto thread = sys::start_thread([this, leave, fd = std::make_shared<OwnedFd>(std::move(socket))] {
    serve_(fd->get());
    fd->reset();
    leave();
  });
  if (!thread) return leave();
  guest->thread = std::move(thread).value();
}

// On the main thread, which alone makes guests.
void Guests::join_the_gone() {
  std::list<Guest> gone;
  {
    std::lock_guard lock(mutex_);
    for (auto guest = guests_.begin(); guest != guests_.end();) {
      const auto next = std::next(guest);
      if (guest->gone) gone.splice(gone.end(), guests_, guest);
      guest = next;
    }
  }
  for (Guest& guest : gone) {
    if (guest.thread.joinable()) guest.thread.join();
  }
}

}  // namespace cli
