#include "cluster/peers/dialer.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "cluster/link/dial.h"
#include "sandbox/supervisor.h"
#include "sandbox/sys/socket.h"

namespace cluster {

using sys::Error;
using sys::OwnedFd;
using sys::Result;

namespace {

struct Answer {
  char why[256] = {};  // empty: a socket comes with it
};

// Only this descriptor is left, and nothing behind the standard ones.
constexpr int kKept = 3;
void keep_only(int socket) {
  if (socket != kKept) (void)::dup2(socket, kKept);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int standard = 0; standard < kKept; ++standard) (void)::dup2(null, standard);
  ::syscall(SYS_close_range, static_cast<unsigned>(kKept + 1), ~0u, 0u);
}

// The process. It keeps its user's right to files, which a name server's client needs; it hears one
// byte at a time from its starter, and the answers of name servers.
[[noreturn]] void serve(int starter, const JoinUrl& to, sys::Milliseconds patience) {
  // It ends with its starter, which may have to answer somebody still when a terminal says stop.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_IGN);
  (void)sandbox::harden_supervisor();
  for (;;) {
    std::byte asked{};
    const auto heard = sys::receive_message(starter, {&asked, 1});
    if (!heard || heard->size == 0) ::_exit(0);
    Answer answer;
    const Result<OwnedFd> socket = dial(to, patience);
    if (!socket) {
      const std::string why = socket.error().text();
      std::copy_n(why.begin(), std::min(why.size(), sizeof answer.why - 1), answer.why);
    }
    const int fd = socket ? socket->get() : -1;
    const std::span<const int> fds(&fd, socket ? 1 : 0);
    if (!sys::send_message(starter, sys::bytes_of(answer), fds)) ::_exit(0);
  }
}

}  // namespace

Result<OwnedFd> Dialer::start(const JoinUrl& to, sys::Milliseconds patience) {
  sys::SocketPair pair = TRY(sys::seqpacket_pair());
  // It is a child of our child, which ends: who has given up its rights can wait for nobody.
  const pid_t child = ::fork();
  if (child < 0) return Error::from_errno("fork");
  if (child == 0) {
    if (const pid_t grandchild = ::fork(); grandchild != 0) ::_exit(grandchild < 0 ? 1 : 0);
    keep_only(pair.theirs.get());
    serve(kKept, to, patience);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) return Error::because("a process that connects could not be started");
  return std::move(pair.ours);
}

Dialer::Dialer(runtime::Loop& loop, OwnedFd process, sys::Milliseconds known)
    : process_(std::move(process)),
      known_(known),
      readable_(loop, process_.get(), [this] { answered(); }) {
  readable_.start();
}

bool Dialer::is_away() const {
  return gone_ || (trouble_.has_value() && sys::monotonic_now() < trouble_at_ + known_);
}

void Dialer::dial(std::function<bool()> wanted, Then then) {
  if (is_away()) return then(*trouble_);
  if (waiting_.size() >= kMostWaiting)
    return then(Error::because("too many requests wait for a connection"));
  waiting_.push_back({std::move(wanted), std::move(then)});
  if (waiting_.size() == 1) ask();
}

void Dialer::ask() {
  while (!waiting_.empty() && !waiting_.front().wanted()) waiting_.pop_front();
  if (waiting_.empty()) return;
  const std::byte please{1};
  if (auto sent = sys::send_message(process_.get(), {&please, 1}); !sent) fail(sent.error());
}

void Dialer::answered() {
  Answer answer;
  auto received = sys::receive_message(process_.get(), sys::writable_bytes_of(answer));
  if (!received && received.error().code() == EAGAIN) return;
  if (!received) return fail(received.error());  // of this socket: there may be no room for it
  if (received->size == 0) {
    readable_.stop();
    gone_ = true;
    return fail(Error::because("the process that connects is gone; start this router again"));
  }
  if (received->fds.empty())
    return fail(Error::because(std::string(answer.why, ::strnlen(answer.why, sizeof answer.why))));
  trouble_.reset();
  if (waiting_.empty()) return;
  const Then then = std::move(waiting_.front().then);
  waiting_.pop_front();
  ask();
  then(std::move(received->fds.front()));
}

void Dialer::fail(const Error& why) {
  trouble_ = why;
  trouble_at_ = sys::monotonic_now();
  for (const Waiting& each : std::exchange(waiting_, {})) each.then(why);
}

}  // namespace cluster
