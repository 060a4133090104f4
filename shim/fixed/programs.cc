#include "shim/fixed/programs.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "sandbox/seccomp/report.h"
#include "shim/fixed/state.h"

namespace fixed {
namespace {

enum class Program { kNone, kLoadsUs, kDoesNot, kScript };

long as_word(const void* pointer) { return reinterpret_cast<long>(pointer); }

bool read_at(int fd, void* into, size_t size, uint64_t offset) {
  return raw_call(SYS_pread64, fd, as_word(into), static_cast<long>(size),
                  static_cast<long>(offset)) == static_cast<long>(size);
}

// A program that loads libraries names an interpreter (runtime/builds/machine_code.cc). The kernel
// reads a table of 64 KiB at most (load_elf_phdrs in fs/binfmt_elf.c).
bool names_interpreter(int fd, const Elf64_Ehdr& head) {
  if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof(Elf64_Phdr)) return false;
  for (size_t i = 0; i < head.e_phnum && i < 65536 / sizeof(Elf64_Phdr); ++i) {
    Elf64_Phdr part;
    if (!read_at(fd, &part, sizeof part, head.e_phoff + i * sizeof part)) return false;
    if (part.p_type == PT_INTERP) return true;
  }
  return false;
}

// The kernel reads so much of a script's first line (BINPRM_BUF_SIZE).
struct FirstLine {
  char text[256] = {};

  // The path behind "#!", or nothing.
  const char* interpreter() {
    if (text[0] != '#' || text[1] != '!') return nullptr;
    char* const begin = text + 2 + std::strspn(text + 2, " \t");
    begin[std::strcspn(begin, " \t\n")] = '\0';
    return *begin ? begin : nullptr;
  }
};

Program kind_of(int fd, FirstLine& line) {
  if (raw_call(SYS_pread64, fd, as_word(line.text), sizeof line.text - 1, 0) < 0)
    return Program::kDoesNot;
  if (line.text[0] == '#' && line.text[1] == '!') return Program::kScript;
  Elf64_Ehdr head;
  if (!read_at(fd, &head, sizeof head, 0) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
    return Program::kNone;
  return names_interpreter(fd, head) ? Program::kLoadsUs : Program::kDoesNot;
}

bool is_regular(int directory, const char* path) {
  struct stat about;
  const int flags = *path ? 0 : AT_EMPTY_PATH;
  return raw_call(SYS_newfstatat, directory, as_word(path), as_word(&about), flags) == 0 &&
         S_ISREG(about.st_mode);
}

bool may_execute(int directory, const char* path) {
  return raw_call(SYS_faccessat, directory, as_word(path), X_OK) == 0;
}

// What may be executed and not read, or not opened now, may be anything.
Program kind_of_file(int directory, const char* path, FirstLine& line) {
  if (!is_regular(directory, path)) return Program::kNone;
  if (!*path) return kind_of(directory, line);
  if (!may_execute(directory, path)) return Program::kNone;
  const long fd = raw_call(SYS_openat, directory, as_word(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return Program::kDoesNot;
  const Program kind = kind_of(static_cast<int>(fd), line);
  raw_call(SYS_close, fd);
  return kind;
}

// The interpreter of a script may be a script, five times (exec_binprm in fs/exec.c). False: there
// is no such program.
bool look(int directory, const char* path) {
  FirstLine lines[2];
  Program kind = kind_of_file(directory, path, lines[0]);
  const bool exists = kind != Program::kNone;
  for (int depth = 0; kind == Program::kScript && depth < 5; ++depth) {
    const char* const interpreter = lines[depth % 2].interpreter();
    if (!interpreter) break;
    FirstLine& next = lines[(depth + 1) % 2];
    next = {};
    kind = kind_of_file(AT_FDCWD, interpreter, next);
  }
  if (kind == Program::kDoesNot) tell_of_unfixed_child();
  return exists;
}

struct KeepErrno {
  int before = errno;
  ~KeepErrno() { errno = before; }
};

}  // namespace

void tell_of_unfixed_child() { raw_call(sandbox::kTrapReportCall, sandbox::kNotFixedOption); }

void look_at_program(int directory, const char* path) {
  const KeepErrno keep;
  if (is_on()) look(directory, path);
}

void look_for_program(const char* file) {
  const KeepErrno keep;
  if (!is_on() || !*file) return;
  if (std::strchr(file, '/')) {
    look(AT_FDCWD, file);
    return;
  }
  const char* folder = std::getenv("PATH");
  if (!folder) folder = "/bin:/usr/bin";
  for (;; ++folder) {
    const size_t length = std::strcspn(folder, ":");
    char path[PATH_MAX];
    const int needed = std::snprintf(path, sizeof path, "%.*s%s%s", static_cast<int>(length),
                                     folder, length > 0 ? "/" : "", file);
    if (needed > 0 && static_cast<size_t>(needed) < sizeof path && look(AT_FDCWD, path)) return;
    folder += length;
    if (*folder == '\0') return;
  }
}

}  // namespace fixed
