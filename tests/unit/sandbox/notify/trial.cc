#include "tests/unit/sandbox/notify/trial.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <span>

#include "sandbox/notify/files.h"
#include "sandbox/sys/file.h"
#include "sandbox/sys/socket.h"

namespace sandbox::test {

[[noreturn]] void live_under(const std::string& filter, const Trial& trial, int socket,
                             const std::function<int()>& program) {
  ::alarm(20);
  if (!trial.prepare()) ::_exit(kSkipped);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) ::_exit(kSkipped);
  int listener = load_filter_raw(std::as_bytes(std::span(filter)));
  if (listener < 0) ::_exit(kSkipped);
  if (!sys::send_message(socket, sys::bytes_of(listener), std::span(&listener, 1))) ::_exit(78);
  char go_ahead = 0;  // the parent looks at us in /proc first
  if (::read(socket, &go_ahead, 1) != 1) ::_exit(79);
  ::_exit(program());
}

namespace {

void serve(int listener, const CellView& cell, const Trial& trial, Seen* seen) {
  prepare_listener(listener);
  for (;;) {
    pollfd poll = {.fd = listener, .events = POLLIN, .revents = 0};
    if (::poll(&poll, 1, 20'000) <= 0) return;
    auto notice = receive_notice(listener);
    if (!notice) return;  // nobody is left
    if (!*notice) continue;
    Ruling ruling = rule(listener, cell, **notice);
    if (const std::optional<Ruling> told = rule_by_registers(cell, **notice)) {
      REQUIRE(told->proceed == ruling.proceed);
      REQUIRE(told->asks == ruling.asks);
      REQUIRE(told->signal == ruling.signal);
      REQUIRE(told->refusal.has_value() == ruling.refusal.has_value());
    } else {
      ++seen->looked_at;
    }
    if (ruling.asks != Asks::kNothing) {
      seen->asked.push_back(ruling);
      ruling = trial.decide(ruling);
    }
    if (ruling.proceed)
      ++seen->proceeded;
    else if (!ruling.refusal)
      ++seen->quiet;
    else
      seen->refused.push_back(ruling.refusal->call + " " + ruling.refusal->argument);
    REQUIRE(answer(listener, **notice, ruling).ok());
  }
}

}  // namespace

Seen watch(const Trial& trial, const std::function<int()>& program) {
  auto filter = compile_filter(trial.profile, trial.variant);
  auto sockets = sys::seqpacket_pair();
  REQUIRE(filter.ok());
  REQUIRE(sockets.ok());
  pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) live_under(*filter, trial, sockets->theirs.get(), program);
  sockets->theirs.reset();

  int number = 0;
  auto message = sys::receive_message(sockets->ours.get(), sys::writable_bytes_of(number));
  Seen seen;
  if (message.ok() && message->fds.size() == 1) {
    auto root = sys::open("/proc/" + std::to_string(child) + "/root", O_PATH);
    REQUIRE(root.ok());
    REQUIRE(::write(sockets->ours.get(), "!", 1) == 1);
    CellView cell;
    cell.init_pid = trial.child_is_init ? child : -1;
    cell.root_fd = root->get();
    cell.scratch_device = trial.scratch_device;
    cell.scratch_path = trial.scratch_path;
    cell.profile = trial.profile;
    cell.owner = trial.owner;
    serve(message->fds[0].get(), cell, trial, &seen);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  seen.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  seen.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return seen;
}

bool skipped(const Seen& seen) {
  if (seen.code == kSkipped)
    WARN("SKIPPED: this host lets no process load a notifying filter, or mount");
  return seen.code == kSkipped;
}

int failed(const char* file, int line) {
  ::dprintf(2, "%s:%d: in the child: %s\n", file, line, std::strerror(errno));
  return 1;
}

}  // namespace sandbox::test
