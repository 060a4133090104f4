#include "tools/cli/selfcheck/strangers.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <sstream>

#include "sandbox/sys/file.h"

namespace cli {
namespace {

constexpr int kPatienceMs = 2000;  // for those that are on their way out

// By all threads: an orphan is given to any of them.
std::vector<pid_t> children() {
  std::vector<pid_t> found;
  std::error_code problem;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", problem)) {
    sys::Result<std::string> text = sys::read_file(thread.path() / "children");
    if (!text) continue;
    std::istringstream pids(*text);
    for (pid_t pid = 0; pids >> pid;) found.push_back(pid);
  }
  return found;
}

// True if it had to be ended.
bool end(pid_t pid) {
  sys::OwnedFd handle(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  pollfd ended{handle.get(), POLLIN, 0};
  int ready = 0;
  while (handle && (ready = ::poll(&ended, 1, kPatienceMs)) < 0 && errno == EINTR) {
  }
  const bool stays = ready == 0;
  ::kill(pid, SIGKILL);  // our child, not reaped yet: the number is still its own
  while (::waitpid(pid, nullptr, __WALL) < 0 && errno == EINTR) {
  }
  return stays;
}

}  // namespace

std::vector<pid_t> adopt_orphans() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  return children();
}

unsigned end_strangers(const std::vector<pid_t>& known) {
  unsigned count = 0;
  for (;;) {
    // One that ends may leave us its own children.
    std::vector<pid_t> strangers = children();
    std::erase_if(strangers, [&known](pid_t pid) {
      return std::find(known.begin(), known.end(), pid) != known.end();
    });
    if (strangers.empty()) return count;
    for (pid_t pid : strangers) count += end(pid) ? 1 : 0;
  }
}

}  // namespace cli
