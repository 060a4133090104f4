#include "shim/heap/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <string_view>

#include "shim/heap/hot_pages.h"
#include "shim/python/program.h"

namespace shim {

namespace {

// The smallest programs of both modes: what both write to is what every job writes to.
constexpr std::string_view kScript = "def f(n):\n    return [str(n)]\nprint(f(1))\n";
constexpr std::string_view kDefinition = "def f(x):\n    return [row[::-1] for row in x]\n";

void put_count(std::string& to, char tag, size_t count) {
  uint32_t n = static_cast<uint32_t>(count);
  to.push_back(tag);
  to.append(reinterpret_cast<const char*>(&n), sizeof n);
}

void put_text(std::string& to, std::string_view text) {
  put_count(to, 's', text.size());
  to.append(text);
}

// The request of shim/value_format.h.
std::string request_for(Mode mode) {
  std::string to;
  put_count(to, 'l', 8);
  put_text(to, mode == Mode::kScript ? kScript : kDefinition);
  to += {'u', static_cast<char>(mode)};
  put_text(to, mode == Mode::kScript ? "" : "f");
  put_count(to, 'l', mode == Mode::kScript ? 0 : 1);
  if (mode == Mode::kCall) {
    put_count(to, 'l', 2);
    put_count(to, 'l', 1);
    put_count(to, 'l', 1);
    put_count(to, 'l', 2);
    to += {'u', 1, 'u', 2};
    put_count(to, 'D', 0);
  }
  to += 'F';
  put_count(to, 'l', 1);
  put_text(to, "main.py");
  put_count(to, 'D', 0);
  put_count(to, 'l', 0);
  return to;
}

constexpr size_t kAnswerBytes = 64 << 10;

// One trial job in a child of the template. It is our own program, so nothing confines it.
void run_trial(Mode mode) {
  void* region =
      ::mmap(nullptr, kAnswerBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (region == MAP_FAILED) return;
  int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  std::string request = request_for(mode);
  long pid = ::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (pid == 0) {
    for (int fd : {0, 1, 2}) ::dup2(null, fd);
    set_before_exit(note_hot_pages);
    AnswerSpace space{static_cast<AnswerRegion*>(region), kAnswerBytes - sizeof(AnswerRegion), 1};
    run_program(request, space);
  }
  ::close(null);
  int status;
  while (pid > 0 && ::waitpid(static_cast<pid_t>(pid), &status, __WALL) < 0 && errno == EINTR) {
  }
  ::munmap(region, kAnswerBytes);
}

}  // namespace

HeapMode heap_mode_named(const char* word) {
  if (std::strcmp(word, "moved") == 0) return HeapMode::kMoved;
  if (std::strcmp(word, "merged") == 0) return HeapMode::kMerged;
  if (std::strcmp(word, "huge") == 0) return HeapMode::kHuge;
  return HeapMode::kPlain;
}

void warm_image(HeapMode mode) {
  if (mode == HeapMode::kPlain || !start_hot_pages()) return;
  // The first move lets the trials be told from the template; the second takes in what they and we
  // have written since.
  if (make_heap_image(mode).error != 0) return;
  run_trial(Mode::kScript);
  run_trial(Mode::kCall);
  freeze_hot_pages();
  make_heap_image(mode);
}

}  // namespace shim
