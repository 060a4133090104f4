#pragma once
// Whole-file reads and writes, memfds and pipes, as Results. Callers are the daemon and the
// processes that set a sandbox up; nothing here runs on the path of a job.

#include <string>
#include <string_view>

#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"

namespace sys {

// CLOEXEC is always added. `mode` counts only with O_CREAT.
Result<OwnedFd> open(const std::string& path, int flags, unsigned mode = 0644);
Result<OwnedFd> open_at(int dir, const std::string& path, int flags, unsigned mode = 0644);

Result<void> write_all(int fd, std::string_view bytes);
Result<std::string> read_all(int fd, size_t limit = size_t{1} << 30);
Result<std::string> read_file(const std::string& path, size_t limit = size_t{1} << 30);
// Opens for writing without creating (control files of /proc and cgroups) and writes once.
Result<void> write_control(const std::string& path, std::string_view value);

// An anonymous file in memory holding `bytes`, sealed against every change.
Result<OwnedFd> sealed_memfd(const char* name, std::string_view bytes);
Result<OwnedFd> memfd(const char* name, size_t size);

struct Pipe {
  OwnedFd reader;
  OwnedFd writer;
};
Result<Pipe> make_pipe(int flags = 0);  // CLOEXEC is always added
// The same with permissions: who opens /dev/stdin or /proc/self/fd/0 opens the pipe's inode anew,
// and a program has not the uid of who made it.
enum class PipeFor { kReading, kWriting, kBoth };
Result<Pipe> make_pipe_for_program(PipeFor use);

Result<OwnedFd> duplicate(int fd);  // CLOEXEC

}  // namespace sys
