#include "tools/cli/selfcheck/objects.h"

#include <signal.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace cli {
namespace {

using sys::Error;
using sys::OwnedFd;
using sys::Result;

// Removes what lies under a key in this namespace; true if there was anything.
bool remove_all(int key) {
  bool any = false;
  if (int id = ::shmget(key, 0, 0); id >= 0) any |= ::shmctl(id, IPC_RMID, nullptr) == 0;
  if (int id = ::semget(key, 0, 0); id >= 0) any |= ::semctl(id, 0, IPC_RMID) == 0;
  if (int id = ::msgget(key, 0); id >= 0) any |= ::msgctl(id, IPC_RMID, nullptr) == 0;
  return any;
}

// Answers each byte with whether strangers were there, and cleans up at the end of the channel.
[[noreturn]] void keep(int channel, int key) {
  for (int ignored : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(ignored, SIG_IGN);
  const int segment = ::shmget(key, 4096, IPC_CREAT | IPC_EXCL | 0666);
  (void)::semget(key, 1, IPC_CREAT | IPC_EXCL | 0666);
  (void)::msgget(key, IPC_CREAT | IPC_EXCL | 0666);
  (void)!::write(channel, &segment, sizeof segment);
  for (char asked; ::read(channel, &asked, 1) == 1;) {
    const char any = remove_all(key + 1) ? 1 : 0;
    (void)!::write(channel, &any, 1);
  }
  remove_all(key);
  remove_all(key + 1);
  ::_exit(0);
}

}  // namespace

Result<Objects> Objects::make(int key) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
    return Error::from_errno("socketpair");
  }
  Objects objects;
  objects.channel_ = OwnedFd(ends[0]);
  OwnedFd theirs(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) return Error::from_errno("fork");
  if (pid == 0) {
    objects.channel_.reset();
    keep(theirs.get(), key);
  }
  objects.keeper_ = pid;
  theirs.reset();
  if (::read(objects.channel_.get(), &objects.segment_, sizeof objects.segment_) !=
      static_cast<ssize_t>(sizeof objects.segment_)) {
    return Error::because("the keeper of System V objects ended");
  }
  return objects;
}

Objects& Objects::operator=(Objects&& other) noexcept {
  end();
  channel_ = std::move(other.channel_);
  keeper_ = std::exchange(other.keeper_, 0);
  segment_ = other.segment_;
  return *this;
}

Objects::~Objects() { end(); }

void Objects::end() {
  if (!channel_) return;
  channel_.reset();
  while (::waitpid(keeper_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

bool Objects::take_strangers() const {
  char any = 0;
  return ::write(channel_.get(), "?", 1) == 1 && ::read(channel_.get(), &any, 1) == 1 && any == 1;
}

}  // namespace cli
