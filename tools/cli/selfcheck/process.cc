#include "tools/cli/selfcheck/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "sandbox/sys/file.h"
#include "sandbox/sys/units.h"

namespace cli {
namespace {

using sys::Error;
using sys::Result;

constexpr size_t kLongestReport = size_t{4} << 20;
constexpr sys::Milliseconds kLongestCheck{600'000};

std::vector<std::string> names_of(sandbox::Layers layers) {
  std::vector<std::string> names;
  for (unsigned i = 0; i < sandbox::kLayerCount; ++i) {
    const auto layer = static_cast<sandbox::Layer>(i);
    if (layers.has(layer)) names.emplace_back(sandbox::name_of(layer));
  }
  return names;
}

class Actions {
 public:
  Actions() { ::posix_spawn_file_actions_init(&actions_); }
  ~Actions() { ::posix_spawn_file_actions_destroy(&actions_); }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;
  void attach(int fd, int as) { ::posix_spawn_file_actions_adddup2(&actions_, fd, as); }
  void open_nothing(int as) {
    ::posix_spawn_file_actions_addopen(&actions_, as, "/dev/null", O_RDONLY, 0);
  }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

// The pool's thread may have signals blocked; the new process must hear of its end.
Result<pid_t> spawn(std::vector<std::string> arguments, int out, int err) {
  Actions actions;
  actions.open_nothing(STDIN_FILENO);
  actions.attach(out, STDOUT_FILENO);
  actions.attach(err, STDERR_FILENO);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  std::vector<char*> argv;
  for (std::string& each : arguments) argv.push_back(each.data());
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int error =
      ::posix_spawn(&pid, "/proc/self/exe", actions.get(), &attributes, argv.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) return Error::from_errno("start zygo selfcheck", error);
  return pid;
}

struct Said {
  std::string out, err;
  bool stopped = false;
};

// False when there is no more.
bool take(int fd, std::string& into) {
  std::array<char, 65536> bytes;
  const ssize_t n = ::read(fd, bytes.data(), bytes.size());
  if (n < 0) return errno == EINTR;
  if (into.size() < kLongestReport) into.append(bytes.data(), static_cast<size_t>(n));
  return n > 0;
}

// Milliseconds, for poll(2).
int left_until(sys::Nanoseconds when) {
  const auto left = std::chrono::ceil<sys::Milliseconds>(when - sys::monotonic_now());
  return static_cast<int>(std::max(left, sys::Milliseconds(0)).count());
}

Said listen(pid_t pid, int out, int err, int stop) {
  Said said;
  std::array<pollfd, 3> watched{pollfd{out, POLLIN, 0}, pollfd{err, POLLIN, 0},
                                pollfd{stop, POLLIN, 0}};
  sys::Nanoseconds until = sys::monotonic_now() + kLongestCheck;
  while (watched[0].fd >= 0 || watched[1].fd >= 0) {
    const int ready = ::poll(watched.data(), watched.size(), left_until(until));
    if (ready == 0) {
      ::kill(pid, SIGKILL);  // it has hung; its cells end with it
      until += std::chrono::seconds(1);
    }
    if (ready <= 0) continue;
    if (watched[0].revents != 0 && !take(out, said.out)) watched[0].fd = -1;
    if (watched[1].revents != 0 && !take(err, said.err)) watched[1].fd = -1;
    if (watched[2].fd < 0 || watched[2].revents == 0) continue;
    watched[2].fd = -1;
    said.stopped = true;
    ::kill(pid, SIGTERM);  // it is ours and not waited for yet: the number is still its own
  }
  return said;
}

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

std::vector<std::string> selfcheck_arguments(const CommonOptions& common) {
  std::vector<std::string> all{"zygo", "selfcheck", "--json", "--python", common.python};
  auto option = [&all](const char* name, const std::string& value) {
    if (!value.empty()) all.insert(all.end(), {name, value});
  };
  if (common.level) option("--level", std::string(sandbox::name_of(*common.level)));
  std::vector<std::string> required = names_of(common.required_layers);
  if (common.required_level)
    required.insert(required.begin(), std::string(sandbox::name_of(*common.required_level)));
  option("--require", fmt::format("{}", fmt::join(required, ",")));
  option("--without", fmt::format("{}", fmt::join(names_of(common.without), ",")));
  option("--preload", fmt::format("{}", fmt::join(common.preload, ",")));
  option("--heap", common.heap.value_or(""));
  option("--image", common.image);
  // The attempts are in Python, whatever language the service's own jobs are in.
  if (!common.preload.empty() || common.template_name.starts_with("python"))
    option("--template", common.template_name);
  return all;
}

Result<std::string> run_selfcheck(const CommonOptions& common, const StopSignals* stop) {
  sys::Pipe out = TRY(sys::make_pipe()), err = TRY(sys::make_pipe());
  const pid_t pid = TRY(spawn(selfcheck_arguments(common), out.writer.get(), err.writer.get()));
  out.writer.reset();
  err.writer.reset();
  Said said = listen(pid, out.reader.get(), err.reader.get(), stop == nullptr ? -1 : stop->fd());
  const int status = wait_for(pid);
  if (said.stopped) return Error::because("the service is ending");
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (code == kExitOk || code == kExitSomeFailed) return std::move(said.out);
  return Error::because(fmt::format("zygo selfcheck ended with {}: {}", code,
                                    said.err.substr(0, said.err.find('\n'))));
}

}  // namespace cli
