// Everything that is random comes from one generator, which the job's seed begins.

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "shim/fixed/state.h"

namespace {

// What the kernel says of flags and of where the bytes are to go. It fills so many in any case.
constexpr size_t kNeverInterrupted = 256;
long real_answer(void* at, size_t size, unsigned flags) {
  return fixed::raw_call(SYS_getrandom, reinterpret_cast<long>(at),
                         static_cast<long>(std::min(size, kNeverInterrupted)), flags);
}

}  // namespace

ZYGO_HOOK ssize_t getrandom(void* at, size_t size, unsigned flags) {
  if (!fixed::is_on()) {
    ZYGO_NEXT(getrandom);
    return real(at, size, flags);
  }
  if (const long error = real_answer(at, size, flags); error < 0) return fixed::with_errno(error);
  fixed::fill_random(at, size);
  return static_cast<ssize_t>(size);
}

ZYGO_HOOK int getentropy(void* at, size_t size) {
  constexpr size_t kMost = 256;  // getentropy(3)
  if (!fixed::is_on() || size > kMost) {
    ZYGO_NEXT(getentropy);
    return real(at, size);
  }
  if (const long error = real_answer(at, size, 0); error < 0)
    return static_cast<int>(fixed::with_errno(error));
  fixed::fill_random(at, size);
  return 0;
}

ZYGO_HOOK uint32_t arc4random() noexcept {
  if (!fixed::is_on()) {
    static auto* const real = fixed::next<uint32_t()>("arc4random");
    return real();
  }
  return static_cast<uint32_t>(fixed::random_word() >> 32);
}

ZYGO_HOOK void arc4random_buf(void* at, size_t size) noexcept {
  if (!fixed::is_on()) {
    static auto* const real = fixed::next<void(void*, size_t)>("arc4random_buf");
    return real(at, size);
  }
  fixed::fill_random(at, size);
}

ZYGO_HOOK uint32_t arc4random_uniform(uint32_t bound) noexcept {
  if (!fixed::is_on()) {
    static auto* const real = fixed::next<uint32_t(uint32_t)>("arc4random_uniform");
    return real(bound);
  }
  return static_cast<uint32_t>((fixed::random_word() >> 32) * bound >> 32);
}

// std::random_device of libstdc++, which asks the processor; RAND_bytes() of OpenSSL, which also
// stirs in the processor's time.
ZYGO_HOOK unsigned _ZNSt13random_device9_M_getvalEv(void* device) {
  if (!fixed::is_on()) {
    static auto* const real = fixed::next<unsigned(void*)>("_ZNSt13random_device9_M_getvalEv");
    return real(device);
  }
  return static_cast<unsigned>(fixed::random_word() >> 32);
}

namespace {

int openssl_bytes(const char* name, unsigned char* at, int size) {
  if (!fixed::is_on() || size < 0) {
    auto* const real = fixed::next<int(unsigned char*, int)>(name);
    return real ? real(at, size) : 0;
  }
  fixed::fill_random(at, static_cast<size_t>(size));
  return 1;
}

}  // namespace

ZYGO_HOOK int RAND_bytes(unsigned char* at, int size) {
  return openssl_bytes("RAND_bytes", at, size);
}
ZYGO_HOOK int RAND_priv_bytes(unsigned char* at, int size) {
  return openssl_bytes("RAND_priv_bytes", at, size);
}

// ---- the devices

namespace {

constexpr size_t kDeviceBytes = size_t{64} << 10;  // a pipe's; then read() below goes on

// The pipes in the place of devices: by inode, because a descriptor can be duplicated, or closed
// without our knowledge. Of more than so many the oldest have an end.
constexpr size_t kDevices = 64;
std::atomic<ino_t> devices[kDevices];
std::atomic<size_t> devices_opened{0};

void note_device(int fd) {
  struct stat about {};
  if (::fstat(fd, &about) == 0) devices[devices_opened++ % kDevices] = about.st_ino;
}

bool is_noted_device(int fd) {
  struct stat about {};
  if (devices_opened == 0 || ::fstat(fd, &about) < 0 || !S_ISFIFO(about.st_mode)) return false;
  for (const auto& each : devices) {
    if (each == about.st_ino) return true;
  }
  return false;
}

bool is_device(const char* path) {
  return fixed::is_on() && fixed::can_read(path) &&
         (std::strcmp(path, "/dev/urandom") == 0 || std::strcmp(path, "/dev/random") == 0);
}

// A pipe full of random bytes: not every program may make files in memory. -1: none can be made.
int open_device(int flags) {
  int ends[2];
  const int kept = flags & O_CLOEXEC;
  if (fixed::raw_call(SYS_pipe2, reinterpret_cast<long>(ends), kept | O_NONBLOCK) < 0) return -1;
  char block[4096];
  for (size_t done = 0; done < kDeviceBytes; done += sizeof block) {
    fixed::fill_random(block, sizeof block);
    if (fixed::raw_call(SYS_write, ends[1], reinterpret_cast<long>(block), sizeof block) < 0) break;
  }
  fixed::raw_call(SYS_close, ends[1]);
  note_device(ends[0]);
  if ((flags & O_NONBLOCK) == 0) fixed::raw_call(SYS_fcntl, ends[0], F_SETFL, 0);
  return ends[0];
}

bool has_mode(int flags) { return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; }

using OpenAt = int(int, const char*, int, ...);

int open_at(int directory, const char* path, int flags, mode_t mode) {
  if (is_device(path)) {
    const int fd = open_device(flags);
    if (fd >= 0) return fd;
  }
  static auto* const real = fixed::next<OpenAt>("openat");
  return real(directory, path, flags, mode);
}

}  // namespace

#define ZYGO_MODE_OF(flags)                                       \
  va_list more;                                                   \
  va_start(more, flags);                                          \
  const mode_t mode = has_mode(flags) ? va_arg(more, mode_t) : 0; \
  va_end(more)

ZYGO_HOOK int open(const char* path, int flags, ...) {
  ZYGO_MODE_OF(flags);
  return open_at(AT_FDCWD, path, flags, mode);
}
ZYGO_HOOK int open64(const char* path, int flags, ...) {
  ZYGO_MODE_OF(flags);
  return open_at(AT_FDCWD, path, flags, mode);
}
ZYGO_HOOK int openat(int directory, const char* path, int flags, ...) {
  ZYGO_MODE_OF(flags);
  return open_at(directory, path, flags, mode);
}
ZYGO_HOOK int openat64(int directory, const char* path, int flags, ...) {
  ZYGO_MODE_OF(flags);
  return open_at(directory, path, flags, mode);
}
// What fortified programs call.
ZYGO_HOOK int __open_2(const char* path, int flags) { return open_at(AT_FDCWD, path, flags, 0); }
ZYGO_HOOK int __open64_2(const char* path, int flags) { return open_at(AT_FDCWD, path, flags, 0); }

ZYGO_HOOK FILE* fopen(const char* path, const char* mode) {
  ZYGO_NEXT(fopen);
  const int fd = is_device(path) ? open_device(O_RDONLY) : -1;
  return fd >= 0 ? ::fdopen(fd, "r") : real(path, mode);
}
ZYGO_HOOK FILE* fopen64(const char* path, const char* mode) {
  ZYGO_NEXT(fopen64);
  const int fd = is_device(path) ? open_device(O_RDONLY) : -1;
  return fd >= 0 ? ::fdopen(fd, "r") : real(path, mode);
}

// A device has no end. The streams of the C library read by a call of their own and find one.
ZYGO_HOOK ssize_t read(int fd, void* into, size_t size) {
  ZYGO_NEXT(read);
  const ssize_t got = real(fd, into, size);
  if (got != 0 || size == 0 || !fixed::is_on() || !is_noted_device(fd)) return got;
  constexpr size_t kMost = 0x7ffff000;  // read(2)
  fixed::fill_random(into, size < kMost ? size : kMost);
  return static_cast<ssize_t>(size < kMost ? size : kMost);
}
// What fortified programs call.
ZYGO_HOOK ssize_t __read_chk(int fd, void* into, size_t size, size_t room) {
  if (size > room) ::abort();
  return read(fd, into, size);
}

// ---- temporary names; the C library draws its own where nobody can come between

namespace {

// Puts six letters in the place of the Xs until `make` says something else than that there is one.
template <typename Make>
int with_name(char* pattern, int suffix, Make make) {
  constexpr int kLetters = 6, kTries = 1000;
  constexpr const char* kAlphabet =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  const auto length = static_cast<int>(std::strlen(pattern));
  char* const at = pattern + length - suffix - kLetters;
  if (suffix < 0 || length < suffix + kLetters || std::memcmp(at, "XXXXXX", kLetters) != 0) {
    errno = EINVAL;
    return -1;
  }
  for (int i = 0; i < kTries; ++i) {
    uint64_t word = fixed::random_word();
    for (int letter = 0; letter < kLetters; ++letter, word /= 62) at[letter] = kAlphabet[word % 62];
    const int made = make(pattern);
    if (made >= 0 || errno != EEXIST) return made;
  }
  return -1;
}

int make_file(char* pattern, int suffix, int flags) {
  return with_name(pattern, suffix, [flags](const char* path) {
    return open_at(AT_FDCWD, path, (flags & ~O_ACCMODE) | O_RDWR | O_CREAT | O_EXCL, 0600);
  });
}

}  // namespace

ZYGO_HOOK int mkstemp(char* pattern) {
  ZYGO_NEXT(mkstemp);
  return fixed::is_on() ? make_file(pattern, 0, 0) : real(pattern);
}
ZYGO_HOOK int mkstemp64(char* pattern) { return mkstemp(pattern); }
ZYGO_HOOK int mkostemp(char* pattern, int flags) {
  ZYGO_NEXT(mkostemp);
  return fixed::is_on() ? make_file(pattern, 0, flags) : real(pattern, flags);
}
ZYGO_HOOK int mkostemp64(char* pattern, int flags) { return mkostemp(pattern, flags); }
ZYGO_HOOK int mkstemps(char* pattern, int suffix) {
  ZYGO_NEXT(mkstemps);
  return fixed::is_on() ? make_file(pattern, suffix, 0) : real(pattern, suffix);
}
ZYGO_HOOK int mkstemps64(char* pattern, int suffix) { return mkstemps(pattern, suffix); }
ZYGO_HOOK int mkostemps(char* pattern, int suffix, int flags) {
  ZYGO_NEXT(mkostemps);
  return fixed::is_on() ? make_file(pattern, suffix, flags) : real(pattern, suffix, flags);
}

ZYGO_HOOK char* mkdtemp(char* pattern) noexcept {
  ZYGO_NEXT(mkdtemp);
  if (!fixed::is_on()) return real(pattern);
  return with_name(pattern, 0, [](const char* path) { return ::mkdir(path, 0700); }) < 0 ? nullptr
                                                                                         : pattern;
}

namespace {

int is_free(const char* path) {
  if (::faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
    errno = EEXIST;
    return -1;
  }
  return errno == ENOENT ? 0 : -1;
}

}  // namespace

ZYGO_HOOK char* mktemp(char* pattern) noexcept {
  static auto* const real = fixed::next<char*(char*)>("mktemp");
  if (!fixed::is_on()) return real(pattern);
  if (with_name(pattern, 0, is_free) < 0) pattern[0] = '\0';
  return pattern;
}

ZYGO_HOOK char* tmpnam(char* into) noexcept {
  static auto* const real = fixed::next<char*(char*)>("tmpnam");
  if (!fixed::is_on()) return real(into);
  static char usual[L_tmpnam];
  char* const name = into ? into : usual;
  std::strcpy(name, "/tmp/fileXXXXXX");
  return with_name(name, 0, is_free) < 0 ? nullptr : name;
}
