#include "shim/warm/zygote.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "shim/exec/execute.h"
#include "shim/heap/hot_pages.h"
#include "shim/heap/image.h"
#include "shim/program.h"
#include "shim/protocol.h"
#include "shim/serve.h"

namespace shim {
namespace {

constexpr int kSignals = 65;
constexpr int kMostOwn = 8;
constexpr size_t kStackBytes = size_t{1} << 20;

// The interpreter as the template left it: the place to return to, its signals' actions (a cell's
// pid 1 has none) and the descriptors that it believes to have.
ucontext_t interpreter, server;
struct sigaction actions[kSignals];
stack_t signal_stack;
bool borrowed = false;
int own[kMostOwn];
int own_count = 0;

void keep_actions() {
  for (int signal = 1; signal < kSignals; ++signal) ::sigaction(signal, nullptr, &actions[signal]);
  ::sigaltstack(nullptr, &signal_stack);
}

// The signals that the shim itself listens to keep their actions (shim/sigsys_reporter.h).
void restore_actions() {
  for (int signal = 1; signal < kSignals; ++signal) {
    if (actions[signal].sa_handler == SIG_DFL) continue;
    struct sigaction now {};
    ::sigaction(signal, nullptr, &now);
    if (now.sa_handler == SIG_DFL) ::sigaction(signal, &actions[signal], nullptr);
  }
}

bool is_event(int fd) {
  char path[40], target[40];
  std::snprintf(path, sizeof path, "self/fd/%d", fd);
  const ssize_t n = ::readlinkat(kProcFd, path, target, sizeof target - 1);
  if (n <= 0) return false;
  target[n] = '\0';
  return std::strcmp(target, "anon_inode:[eventfd]") == 0;
}

// The interpreter closes these after a fork, and would take it ill if they were not there; by then
// their numbers must not be anybody else's.
void fill_own_numbers() {
  for (int i = 0; i < own_count; ++i) ::dup2(0, own[i]);
}

void unmap(const AnswerSpace& space, const void* at, size_t size) {
  if (::munmap(const_cast<void*>(at), size) < 0) space.cannot_execute(errno);
}

void serve() { serve_cells(kControlFd); }

}  // namespace

bool is_borrower() { return borrowed; }

bool can_be_forked(int script) {
  own_count = 0;
  if (native_thread_count() != 1) return false;
  const int list = ::openat(kProcFd, "self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* directory = list < 0 ? nullptr : ::fdopendir(list);
  if (!directory) return false;
  bool fine = true;
  while (const dirent* entry = ::readdir(directory)) {
    if (entry->d_name[0] == '.') continue;
    const int fd = static_cast<int>(std::strtol(entry->d_name, nullptr, 10));
    if (fd <= kProcFd || fd == list || fd == script) continue;
    fine = fine && is_event(fd) && own_count < kMostOwn;
    if (fine) own[own_count++] = fd;
  }
  ::closedir(directory);
  return fine;
}

// The server has a stack of its own, so that a job can leave it behind as it is: no frame of the
// interpreter's is ever jumped over.
void serve_and_return_in_jobs(HeapMode heap) {
  if (make_heap_image(heap).error == 0) drop_clean_pages();
  void* stack = ::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) ::_exit(1);
  keep_actions();
  ::getcontext(&server);
  server.uc_stack.ss_sp = stack;
  server.uc_stack.ss_size = kStackBytes;
  server.uc_link = nullptr;
  ::makecontext(&server, serve, 0);
  ::swapcontext(&interpreter, &server);
}

void serve_plainly(const char* zygo_exec) {
  ::fcntl(kControlFd, F_SETFD, 0);
  ::fcntl(kProcFd, F_SETFD, 0);
  char* words[] = {const_cast<char*>(zygo_exec), nullptr};
  ::execv(zygo_exec, words);
  ::dprintf(2, "zygo: cannot execute %s: %s\n", zygo_exec, std::strerror(errno));
  ::_exit(1);
}

// ---- shim/program.h

// The interpreter reseeds itself: Ruby after each fork, PHP when a number is first asked for.
void reseed_in_memory() {}

bool executes_programs() { return true; }  // those that it does not run itself
bool runs_in_place() { return true; }
bool answers_in_memory() { return false; }
size_t most_warm_pages() { return kMostWarmPagesOfOthers; }

// Everything that was inherited and is not the program's goes before it can look: the answer's
// memory, which its process would otherwise share with pid 1, that of the request, and every
// descriptor.
void run_program(std::string_view bytes, AnswerSpace space) {
  const Request request = require_program(bytes);
  prepare_scratch(request, space);
  if (request.mode == Mode::kExec) execute(request, space);
  environ = lasting_environment(request, space.home);
  borrowed = !space.region;
  if (space.region) unmap(space, space.region, space.region_bytes);
  if (space.request_is_mapped) unmap(space, bytes.data(), bytes.size());
  restore_actions();
  // A process that shares its memory has none from the kernel (clone(2)).
  if (::sigaltstack(&signal_stack, nullptr) < 0) space.cannot_execute(errno);
  if (::syscall(SYS_close_range, 3u, ~0u, 0u) < 0) space.cannot_execute(errno);
  fill_own_numbers();
  ::setcontext(&interpreter);
  ::_exit(kBrokenRequest);
}

}  // namespace shim
