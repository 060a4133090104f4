// Programs that take the place of this one, or are started by it, stay in fixed mode whatever
// environment they are given: what steers it is put back. Between vfork(2) and execve(2) the memory
// is the parent's, so nothing is allocated but on the stack.

#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstring>

#include "shim/fixed/fixed.h"
#include "shim/fixed/programs.h"
#include "shim/fixed/state.h"

namespace {

// Looked up before the program runs: in a forked child of a program with threads dlsym(3) may wait
// for one that is not there.
struct Real {
  decltype(::execve)* execve;
  decltype(::execvpe)* execvpe;
  decltype(::fexecve)* fexecve;
  decltype(::execveat)* execveat;
  decltype(::posix_spawn)* posix_spawn;
  decltype(::posix_spawnp)* posix_spawnp;
  decltype(::system)* system;
  decltype(::popen)* popen;
};
Real real{};

template <typename Function>
void look_up(Function*& into, const char* name) {
  into = fixed::next<Function>(name);
}

[[gnu::constructor]] void look_up_all() {
  if (real.execve) return;
  look_up(real.execvpe, "execvpe");
  look_up(real.fexecve, "fexecve");
  look_up(real.execveat, "execveat");
  look_up(real.posix_spawn, "posix_spawn");
  look_up(real.posix_spawnp, "posix_spawnp");
  look_up(real.system, "system");
  look_up(real.popen, "popen");
  look_up(real.execve, "execve");
}

constexpr const char* kPreload = "LD_PRELOAD=";
// 64 KiB of the stack. Who gives a child more than that has it as it is, and not fixed.
constexpr size_t kMostEntries = 8192;

using Words = char* const*;

struct Given {
  size_t count = 0;
  size_t preload = 0;  // its place; `count`: there is none
  bool has_view = false;
};

bool is_named(const char* entry, const char* name, size_t length) {
  return std::strncmp(entry, name, length) == 0 && entry[length] == '=';
}

Given look_at(Words env) {
  Given given;
  constexpr size_t kPreloadName = sizeof "LD_PRELOAD" - 1;
  for (; env && env[given.count]; ++given.count) {
    if (is_named(env[given.count], shim::kFixedName, std::strlen(shim::kFixedName)))
      given.has_view = true;
  }
  given.preload = given.count;
  for (size_t i = 0; i < given.count; ++i) {
    if (is_named(env[i], "LD_PRELOAD", kPreloadName)) given.preload = i;
  }
  return given;
}

bool needs_more(const Given& given, Words env) {
  if (given.count > kMostEntries || fixed::own_path()[0] == '\0' || !fixed::is_on()) return false;
  return !given.has_view || given.preload == given.count ||
         !std::strstr(env[given.preload], fixed::own_path());
}

size_t length_of_preload(const Given& given, Words env) {
  const size_t theirs = given.preload < given.count ? std::strlen(env[given.preload]) : 0;
  return std::strlen(kPreload) + std::strlen(fixed::own_path()) + theirs + 2;
}

// `into` has room for three entries more than there are; `preload` for its value.
void complete(const Given& given, Words env, char** into, char* preload) {
  size_t count = 0;
  for (size_t i = 0; i < given.count; ++i) {
    if (i != given.preload) into[count++] = env[i];
  }
  const char* theirs =
      given.preload < given.count ? env[given.preload] + std::strlen(kPreload) : nullptr;
  char* end = ::stpcpy(::stpcpy(preload, kPreload), fixed::own_path());
  if (theirs && std::strstr(theirs, fixed::own_path())) {
    into[count++] = env[given.preload];
  } else {
    if (theirs) ::stpcpy(::stpcpy(end, ":"), theirs);
    into[count++] = preload;
  }
  if (!given.has_view) into[count++] = fixed::own_view();
  into[count] = nullptr;
}

}  // namespace

// Declares `whole`: `env` with what it lacks, on the stack of the function that this is written in.
#define ZYGO_WHOLE(env)                                                                         \
  const Given given = look_at(env);                                                             \
  Words whole = env;                                                                            \
  if (needs_more(given, env)) {                                                                 \
    auto* const entries = static_cast<char**>(::alloca((given.count + 3) * sizeof(char*)));     \
    complete(given, env, entries, static_cast<char*>(::alloca(length_of_preload(given, env)))); \
    whole = entries;                                                                            \
  } else if (given.count > kMostEntries && fixed::is_on()) {                                    \
    fixed::tell_of_unfixed_child();                                                             \
  }

ZYGO_HOOK int execve(const char* path, Words argv, Words env) noexcept {
  look_up_all();
  ZYGO_WHOLE(env);
  fixed::look_at_program(AT_FDCWD, path);
  return real.execve(path, argv, whole);
}
ZYGO_HOOK int execv(const char* path, Words argv) noexcept { return execve(path, argv, environ); }

ZYGO_HOOK int execvpe(const char* file, Words argv, Words env) noexcept {
  look_up_all();
  ZYGO_WHOLE(env);
  fixed::look_for_program(file);
  return real.execvpe(file, argv, whole);
}
ZYGO_HOOK int execvp(const char* file, Words argv) noexcept { return execvpe(file, argv, environ); }

ZYGO_HOOK int fexecve(int fd, Words argv, Words env) noexcept {
  look_up_all();
  ZYGO_WHOLE(env);
  fixed::look_at_program(fd, "");
  return real.fexecve(fd, argv, whole);
}
ZYGO_HOOK int execveat(int directory, const char* path, Words argv, Words env, int flags) noexcept {
  look_up_all();
  ZYGO_WHOLE(env);
  fixed::look_at_program(directory, path);
  return real.execveat(directory, path, argv, whole, flags);
}

ZYGO_HOOK int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                          const posix_spawnattr_t* attributes, Words argv, Words env) {
  look_up_all();
  ZYGO_WHOLE(env);
  fixed::look_at_program(AT_FDCWD, path);
  return real.posix_spawn(pid, path, actions, attributes, argv, whole);
}
ZYGO_HOOK int posix_spawnp(pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions,
                           const posix_spawnattr_t* attributes, Words argv, Words env) {
  look_up_all();
  ZYGO_WHOLE(env);
  fixed::look_for_program(file);
  return real.posix_spawnp(pid, file, actions, attributes, argv, whole);
}

// ---- with the words one by one

namespace {

size_t count_words(va_list words) {
  va_list ahead;
  va_copy(ahead, words);
  size_t count = 1;
  while (va_arg(ahead, const char*)) ++count;
  va_end(ahead);
  return count;
}

}  // namespace

// Declares `argv`, and leaves `more` behind its end.
#define ZYGO_ARGV(first)                                                         \
  va_list more;                                                                  \
  va_start(more, first);                                                         \
  const size_t words = count_words(more);                                        \
  auto* const argv = static_cast<char**>(::alloca((words + 1) * sizeof(char*))); \
  argv[0] = const_cast<char*>(first);                                            \
  for (size_t i = 1; i <= words; ++i) argv[i] = va_arg(more, char*)

ZYGO_HOOK int execl(const char* path, const char* first, ...) noexcept {
  ZYGO_ARGV(first);
  va_end(more);
  return execve(path, argv, environ);
}
ZYGO_HOOK int execlp(const char* file, const char* first, ...) noexcept {
  ZYGO_ARGV(first);
  va_end(more);
  return execvpe(file, argv, environ);
}
ZYGO_HOOK int execle(const char* path, const char* first, ...) noexcept {
  ZYGO_ARGV(first);
  Words env = va_arg(more, Words);
  va_end(more);
  return execve(path, argv, env);
}

// ---- by the shell, which the C library starts with the environment as it is

namespace {

template <typename Result, typename Start>
Result with_whole_environment(Start start) {
  ZYGO_WHOLE(environ);
  fixed::look_at_program(AT_FDCWD, "/bin/sh");
  char** const before = environ;
  environ = const_cast<char**>(whole);
  const Result result = start();
  if (environ == whole) environ = before;
  return result;
}

}  // namespace

ZYGO_HOOK int system(const char* command) {
  look_up_all();
  return with_whole_environment<int>([command] { return real.system(command); });
}
ZYGO_HOOK FILE* popen(const char* command, const char* mode) {
  look_up_all();
  return with_whole_environment<FILE*>([command, mode] { return real.popen(command, mode); });
}
