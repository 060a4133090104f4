// The calls of the C library by which an interpreter asks for its script, taken over by
// zygo-warm.so, which is preloaded (ld.so(8)). They do as ever but at one moment:
//
//   PHP   opens its script by fopen when its modules have started and no request has. There we
//         serve; a job's fopen goes on to open the job's script.
//   Ruby  opens its script and reads its start before it loads rubygems, which is most of its
//   start.
//         It is given a file that holds a byte order mark, which its parser skips, and asks for
//         more when it parses. There it is made to fork, so that it puts in order itself what must
//         be after a fork; we serve inside that fork, and put the job's script in that file's
//         place.
//
// An interpreter that does otherwise (another version, a second thread) loses nothing: zygo-exec
// takes its place, at the latest when it ends, and jobs are executed.

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "shim/warm/compaction.h"
#include "shim/warm/find.h"
#include "shim/warm/names.h"
#include "shim/warm/zygote.h"

namespace {

using shim::find;

enum class Stage : unsigned char {
  kOff,       // not started by zygo-exec
  kStarting,  // the interpreter has not asked for its script
  kMarked,    // Ruby has the file with the mark
  kForking,   // Ruby is to fork
  kDone,      // serving, or in a job: everything does as ever
};
Stage stage = Stage::kOff;
// Not strings: these are needed after the last destructor has run.
char script[256], plain[4096];
shim::HeapMode heap = shim::HeapMode::kPlain;
int script_fd = -1;
int reads = 0;  // of it
pid_t template_pid = -1;

constexpr std::string_view kMark = "\xEF\xBB\xBF";
constexpr const char* kFork = "GC.start; Process.fork";

// The function of the C library, or of any other library that comes after us.
template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

__attribute__((constructor)) void begin() {
  const char* name = std::getenv(shim::kScriptName);
  const char* path = std::getenv(shim::kPlainName);
  if (!name || !path || std::strlen(name) >= sizeof script || std::strlen(path) >= sizeof plain)
    return;
  std::strcpy(script, name);
  std::strcpy(plain, path);
  if (const char* mode = std::getenv(shim::kHeapName)) heap = shim::heap_mode_named(mode);
  template_pid = ::getpid();
  // The variables that steered this process are none of a program's business.
  for (const char* each : shim::kWarmNames) ::unsetenv(each);
  stage = Stage::kStarting;
}

// The interpreter ends, and has never asked.
__attribute__((destructor)) void end() {
  if (stage == Stage::kOff || stage == Stage::kDone || ::getpid() != template_pid) return;
  shim::serve_plainly(plain);
}

bool asks_for_script(const char* path) {
  return stage == Stage::kStarting && path && std::strcmp(path, script) == 0;
}

void serve(int but) {
  stage = Stage::kDone;
  if (!shim::can_be_forked(but)) shim::serve_plainly(plain);
  shim::serve_and_return_in_jobs(heap);
}

bool is_ruby() { return find<int(const char*, int*)>("rb_eval_string_protect") != nullptr; }

int open_marked() {
  script_fd = ::memfd_create(script, MFD_CLOEXEC);
  const ssize_t wanted = kMark.size();
  const bool fine = ::write(script_fd, kMark.data(), kMark.size()) == wanted &&
                    ::lseek(script_fd, 0, SEEK_SET) == 0;
  if (!fine) shim::serve_plainly(plain);
  stage = Stage::kMarked;
  return script_fd;
}

// With Ruby's lock.
void* fork_ruby(void*) {
  shim::let_borrowers_not_compact();
  stage = Stage::kForking;
  int failed = 0;
  find<unsigned long(const char*, int*)>("rb_eval_string_protect")(kFork, &failed);
  if (stage != Stage::kDone) shim::serve_plainly(plain);
  return nullptr;
}

void serve_ruby() {
  auto* has_lock = find<int()>("ruby_thread_has_gvl_p");
  auto* with_lock = find<void*(void* (*)(void*), void*)>("rb_thread_call_with_gvl");
  if (!has_lock || !with_lock) shim::serve_plainly(plain);
  if (has_lock()) {
    fork_ruby(nullptr);
  } else {
    with_lock(fork_ruby, nullptr);
  }
  // In a job.
  const int fd = next<int(const char*, int, ...)>("open")(script, O_RDONLY | O_CLOEXEC);
  ::dup3(fd, script_fd, O_CLOEXEC);
  ::close(fd);
}

}  // namespace

#define HOOK extern "C" __attribute__((visibility("default")))

HOOK int open(const char* path, int flags, ...) {
  static auto* const real = next<int(const char*, int, ...)>("open");
  va_list more;
  va_start(more, flags);
  const bool has_mode = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  const mode_t mode = has_mode ? va_arg(more, mode_t) : 0;
  va_end(more);
  return asks_for_script(path) && is_ruby() ? open_marked() : real(path, flags, mode);
}

HOOK ssize_t read(int fd, void* buffer, size_t size) {
  static auto* const real = next<ssize_t(int, void*, size_t)>("read");
  if (stage == Stage::kMarked && fd == script_fd && ++reads == 2) serve_ruby();
  return real(fd, buffer, size);
}

HOOK pid_t fork() {
  static auto* const real = next<pid_t()>("fork");
  if (stage != Stage::kForking) return real();
  serve(script_fd);
  return 0;
}

HOOK FILE* fopen(const char* path, const char* mode) {
  static auto* const real = next<FILE*(const char*, const char*)>("fopen");
  if (asks_for_script(path) && !is_ruby()) serve(-1);
  return real(path, mode);
}

// What the template has mapped is sealed where a job borrows it, and an interpreter takes it for a
// bug of its own when it cannot give that back. It stays until the rollback.
HOOK int munmap(void* at, size_t size) {
  static auto* const real = next<int(void*, size_t)>("munmap");
  const int result = real(at, size);
  return result < 0 && errno == EPERM && shim::is_borrower() ? 0 : result;
}
