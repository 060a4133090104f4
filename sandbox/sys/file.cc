#include "sandbox/sys/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sys {

Result<OwnedFd> open(const std::string& path, int flags, unsigned mode) {
  return open_at(AT_FDCWD, path, flags, mode);
}

Result<OwnedFd> open_at(int dir, const std::string& path, int flags, unsigned mode) {
  int fd = ::openat(dir, path.c_str(), flags | O_CLOEXEC, mode);
  if (fd < 0) return Error::from_errno("open " + path);
  return OwnedFd(fd);
}

Result<void> write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error::from_errno("write");
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

Result<std::string> read_all(int fd, size_t limit) {
  std::string out;
  char chunk[65536];
  for (;;) {
    ssize_t n = ::read(fd, chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error::from_errno("read");
    if (n == 0) return out;
    if (out.size() + static_cast<size_t>(n) > limit) return Error::from_errno("read", EFBIG);
    out.append(chunk, static_cast<size_t>(n));
  }
}

Result<std::string> read_file(const std::string& path, size_t limit) {
  OwnedFd file = TRY(open(path, O_RDONLY));
  Result<std::string> text = read_all(file.get(), limit);
  if (!text) return std::move(text).error().context(path);
  return text;
}

Result<void> write_control(const std::string& path, std::string_view value) {
  OwnedFd file = TRY(open(path, O_WRONLY));
  Result<void> written = write_all(file.get(), value);
  if (!written) return std::move(written).error().context(path);
  return {};
}

Result<OwnedFd> memfd(const char* name, size_t size) {
  OwnedFd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return Error::from_errno("memfd_create");
  if (size > 0 && ::ftruncate(fd.get(), static_cast<off_t>(size)) < 0) {
    return Error::from_errno("ftruncate memfd");
  }
  return fd;
}

Result<OwnedFd> sealed_memfd(const char* name, std::string_view bytes) {
  OwnedFd fd = TRY(memfd(name, 0));
  TRY(write_all(fd.get(), bytes));
  ::lseek(fd.get(), 0, SEEK_SET);
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) <
      0) {
    return Error::from_errno("seal memfd");
  }
  return fd;
}

Result<Pipe> make_pipe(int flags) {
  int ends[2];
  if (::pipe2(ends, flags | O_CLOEXEC) < 0) return Error::from_errno("pipe");
  return Pipe{OwnedFd(ends[0]), OwnedFd(ends[1])};
}

Result<Pipe> make_pipe_for_program(PipeFor use) {
  Pipe pipe = TRY(make_pipe());
  const mode_t mode = use == PipeFor::kReading ? 0644 : use == PipeFor::kWriting ? 0622 : 0666;
  if (::fchmod(pipe.reader.get(), mode) < 0) return Error::from_errno("permissions of a pipe");
  return pipe;
}

Result<OwnedFd> duplicate(int fd) {
  int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
  if (copy < 0) return Error::from_errno("duplicate descriptor");
  return OwnedFd(copy);
}

}  // namespace sys
