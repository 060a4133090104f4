#include "tools/cli/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "sandbox/sys/file.h"

namespace cli {
namespace {

using sys::Error;
using sys::Result;

struct Pipes {
  sys::Pipe in, out, err;
};

class SpawnSettings {
 public:
  explicit SpawnSettings(const Pipes& pipes) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_adddup2(&actions_, pipes.in.reader.get(), STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, pipes.out.writer.get(), STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, pipes.err.writer.get(), STDERR_FILENO);
    // The caller's thread may have signals blocked.
    sigset_t none, ours;
    ::sigemptyset(&none);
    ::sigemptyset(&ours);
    for (const int number : {SIGPIPE, SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&ours, number);
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &ours);
    // A group of its own: Ctrl-C at a terminal reaches us alone, and we end it in order.
    ::posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  Result<pid_t> spawn(const std::string& file, std::vector<std::string>& arguments) const {
    std::vector<char*> argv;
    for (std::string& each : arguments) argv.push_back(each.data());
    argv.push_back(nullptr);
    pid_t pid = 0;
    const int error =
        ::posix_spawnp(&pid, file.c_str(), &actions_, &attributes_, argv.data(), environ);
    if (error != 0) return Error::from_errno("start " + file, error);
    return pid;
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

// False when there is no more.
bool take(int fd, size_t most, std::string& into) {
  std::array<char, 65536> bytes;
  const ssize_t n = ::read(fd, bytes.data(), bytes.size());
  if (n < 0) return errno == EINTR || errno == EAGAIN;
  into.append(bytes.data(), std::min(static_cast<size_t>(n), most - std::min(most, into.size())));
  return n > 0;
}

// False when all is written, or nobody reads it.
bool give(int fd, std::string_view& left) {
  const ssize_t n = ::write(fd, left.data(), left.size());
  if (n < 0) return errno == EINTR || errno == EAGAIN;
  left.remove_prefix(static_cast<size_t>(n));
  return !left.empty();
}

// Milliseconds, for poll(2).
int left_until(sys::Nanoseconds when) {
  const auto left = std::chrono::ceil<sys::Milliseconds>(when - sys::monotonic_now());
  return static_cast<int>(
      std::clamp(left, sys::Milliseconds(0), sys::Milliseconds(60'000)).count());
}

class Attendance {
 public:
  Attendance(pid_t pid, const Subprocess& what, Pipes pipes, int stop)
      : pid_(pid), what_(what), pipes_(std::move(pipes)), left_(what.input) {
    watched_ = {pollfd{pipes_.out.reader.get(), POLLIN, 0},
                pollfd{pipes_.err.reader.get(), POLLIN, 0}, pollfd{stop, POLLIN, 0},
                pollfd{pipes_.in.writer.get(), POLLOUT, 0}};
    ::fcntl(pipes_.in.writer.get(), F_SETFL, O_NONBLOCK);
    if (left_.empty()) close_input();
  }

  Ended attend() {
    Ended ended;
    sys::Nanoseconds until = sys::monotonic_now() + what_.most;
    while (watched_[0].fd >= 0 || watched_[1].fd >= 0) {
      const int ready = ::poll(watched_.data(), watched_.size(), left_until(until));
      if (ready == 0 && sys::monotonic_now() >= until) {
        if (std::exchange(ended.timed_out, true)) break;  // others hold its pipes
        ::kill(pid_, SIGKILL);  // not waited for yet: the number is still its own
        until += std::chrono::seconds(1);
      }
      if (ready > 0) turn(ended);
    }
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return ended;
  }

 private:
  void turn(Ended& ended) {
    if (watched_[0].revents != 0 && !take(watched_[0].fd, what_.output, ended.out))
      watched_[0].fd = -1;
    if (watched_[1].revents != 0 && !take(watched_[1].fd, what_.output, ended.err))
      watched_[1].fd = -1;
    if (watched_[3].fd >= 0 && watched_[3].revents != 0 && !give(watched_[3].fd, left_))
      close_input();
    if (watched_[2].fd < 0 || watched_[2].revents == 0) return;
    watched_[2].fd = -1;
    ended.stopped = true;
    ::kill(pid_, SIGTERM);
  }
  void close_input() {
    watched_[3].fd = -1;
    pipes_.in.writer.reset();
  }

  const pid_t pid_;
  const Subprocess& what_;
  Pipes pipes_;
  std::string_view left_;
  std::array<pollfd, 4> watched_;
};

}  // namespace

Result<Ended> run_subprocess(Subprocess what, int stop) {
  Pipes pipes{TRY(sys::make_pipe()), TRY(sys::make_pipe()), TRY(sys::make_pipe())};
  const pid_t pid = TRY(SpawnSettings(pipes).spawn(what.file, what.argv));
  pipes.in.reader.reset();
  pipes.out.writer.reset();
  pipes.err.writer.reset();
  return Attendance(pid, what, std::move(pipes), stop).attend();
}

}  // namespace cli
