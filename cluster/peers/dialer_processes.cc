#include "cluster/peers/dialer_processes.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "cluster/link/dial.h"
#include "sandbox/caps.h"
#include "sandbox/supervisor.h"
#include "sandbox/sys/socket.h"

namespace cluster {

using sys::Error;
using sys::OwnedFd;
using sys::Result;

namespace {

constexpr const char* kNothingStarts =
    "no process that connects can be started: start this service again";

// Only this descriptor is left, and nothing behind the standard ones.
constexpr int kKept = 3;
void keep_only(int socket) {
  if (socket != kKept) (void)::dup2(socket, kKept);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int standard = 0; standard < kKept; ++standard) (void)::dup2(null, standard);
  ::syscall(SYS_close_range, static_cast<unsigned>(kKept + 1), ~0u, 0u);
}

// It ends with who started it, which may have to answer somebody still when a terminal says stop.
void begin(const char* name, int channel) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_IGN);
  ::prctl(PR_SET_NAME, name);
  keep_only(channel);
  (void)sandbox::harden_supervisor();
  if (sandbox::drop_all_caps() != 0) ::_exit(1);
}

// False: whoever asked is gone.
bool hand_over(const Result<OwnedFd>& socket, int32_t pid) {
  HandedOver answer{.pid = pid};
  if (!socket) {
    const std::string why = socket.error().text();
    std::copy_n(why.begin(), std::min(why.size(), sizeof answer.why - 1), answer.why);
  }
  const int fd = socket ? socket->get() : -1;
  return sys::send_message(kKept, sys::bytes_of(answer), std::span<const int>(&fd, socket ? 1 : 0))
      .ok();
}

// The process for one address. It reads the files that its user may, which a name server's client
// needs; it hears one byte at a time from its owner, and the answers of name servers.
[[noreturn]] void connect_on_demand(int channel, const JoinUrl& to, sys::Milliseconds patience) {
  begin("zygo-dialer", channel);
  for (;;) {
    std::byte asked{};
    const auto heard = sys::receive_message(kKept, {&asked, 1});
    if (!heard || heard->size == 0 || !hand_over(dial(to, patience), 0)) ::_exit(0);
  }
}

void end(pid_t& child) {
  if (child <= 0) return;
  (void)::kill(child, SIGKILL);
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  child = 0;
}

Result<OwnedFd> start_dialer(const JoinUrl& to, sys::Milliseconds patience, pid_t& child) {
  end(child);
  sys::SocketPair pair = TRY(sys::seqpacket_pair());
  // Not fork(): libuv would close descriptors at that which are others' by now; and the C library
  // that packages are made for has no _Fork().
  child = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (child < 0) return Error::from_errno("start a process that connects: fork");
  if (child == 0) connect_on_demand(pair.theirs.get(), to, patience);
  return std::move(pair.ours);
}

// The process that starts the others: it hears nothing but their numbers.
[[noreturn]] void start_on_demand(int channel, const std::vector<JoinUrl>& to,
                                  sys::Milliseconds patience) {
  begin("zygo-dialers", channel);
  std::vector<pid_t> children(to.size(), 0);
  for (;;) {
    uint32_t number = 0;
    const auto heard = sys::receive_message(kKept, sys::writable_bytes_of(number));
    if (!heard || heard->size != sizeof number || number >= to.size()) ::_exit(0);
    const Result<OwnedFd> started = start_dialer(to[number], patience, children[number]);
    if (!hand_over(started, children[number])) ::_exit(0);
  }
}

}  // namespace

Result<OwnedFd> DialerProcesses::start(const std::vector<JoinUrl>& to, sys::Milliseconds patience) {
  sys::SocketPair pair = TRY(sys::seqpacket_pair());
  const pid_t child = ::fork();
  if (child < 0) return Error::from_errno("start the processes that connect: fork");
  if (child == 0) start_on_demand(pair.theirs.get(), to, patience);
  return std::move(pair.ours);
}

DialerProcesses::DialerProcesses(runtime::Loop& loop, OwnedFd channel, std::function<void()> gone)
    : channel_(std::move(channel)),
      gone_(std::move(gone)),
      readable_(loop, channel_.get(), [this] { answered(); }) {
  readable_.start();
}

void DialerProcesses::start_one(uint32_t number, Then then) {
  auto sent = is_gone_ ? Result<void>(Error::because(kNothingStarts))
                       : sys::send_message(channel_.get(), sys::bytes_of(number));
  if (!sent) return then(sent.error());
  waiting_.push_back(std::move(then));
}

void DialerProcesses::answered() {
  HandedOver answer;
  auto received =
      sys::receive_message(channel_.get(), sys::writable_bytes_of(answer), MSG_DONTWAIT);
  if (!received && received.error().code() == EAGAIN) return;
  if (received && received->size == 0) {
    readable_.stop();
    is_gone_ = true;
    gone_();
    for (const Then& each : std::exchange(waiting_, {})) each(Error::because(kNothingStarts));
    return;
  }
  if (waiting_.empty()) return;
  const Then then = std::move(waiting_.front());
  waiting_.pop_front();
  if (!received) return then(received.error());  // of this socket: there may be no room for it
  if (received->fds.empty())
    return then(Error::because(std::string(answer.why, ::strnlen(answer.why, sizeof answer.why))));
  then(Started{std::move(received->fds.front()), answer.pid});
}

}  // namespace cluster
