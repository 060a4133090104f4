// A real process under a real filter that changes what belongs to a file, where the image is no
// read-only mount: the daemon does it, on the file that it has looked at, or refuses.
// NOLINTBEGIN(android-cloexec-*): the children leave at once.
#include "sandbox/notify/attributes.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include "sandbox/sys/file.h"
#include "tests/unit/sandbox/notify/trial.h"

using namespace sandbox;
using namespace sandbox::test;

namespace {

struct Facts {
  mode_t mode = 0;
  timespec changed{};
  bool operator==(const Facts& other) const {
    return mode == other.mode && changed.tv_sec == other.changed.tv_sec &&
           changed.tv_nsec == other.changed.tv_nsec;
  }
};
Facts facts_of(const std::string& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return {status.st_mode, status.st_mtim};
}

Trial beside(const Scratch& scratch, Profile profile = Profile::kDefault) {
  Trial trial;
  trial.profile = profile;
  trial.scratch_device = scratch.device();
  trial.scratch_path = scratch.path();
  trial.variant.shared_files = true;
  trial.prepare = [&scratch] { return ::chdir(scratch.path().c_str()) == 0; };
  return trial;
}

void make_file(const std::string& path) {
  sys::OwnedFd file(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
  REQUIRE(file);
}

constexpr timeval kLongAgo[2] = {{1, 0}, {1, 0}};
constexpr timespec kThen[2] = {{1, 2}, {3, 4}};

}  // namespace

TEST_CASE("files of others are changed by no descriptor that was opened to read",
          "[notify][attributes]") {
  Scratch scratch, image;
  const std::string victim = image / "victim";
  make_file(victim);
  const Facts before = facts_of(victim);

  Seen seen = watch(beside(scratch), [&] {
    const int fd = ::open(victim.c_str(), O_RDONLY);
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    EXPECT_ERROR(EPERM, ::fchmod(fd, 0));
    EXPECT_ERROR(EPERM, ::fchown(fd, ::getuid(), ::getgid()));
    EXPECT_ERROR(EPERM, ::futimens(fd, kThen));
    EXPECT_ERROR(EPERM, ::fsetxattr(fd, "user.x", "y", 1, 0));
    EXPECT_ERROR(EPERM, ::fremovexattr(fd, "user.x"));
    EXPECT_ERROR(EPERM, ::syscall(SYS_futimesat, fd, nullptr, kLongAgo));
    EXPECT_ERROR(EPERM, ::syscall(SYS_utimensat, fd, "", kThen, AT_EMPTY_PATH));
    EXPECT_ERROR(EPERM, ::fchownat(fd, "", ::getuid(), ::getgid(), AT_EMPTY_PATH));
    EXPECT_ERROR(EPERM, ::chmod(link.c_str(), 0));
    EXPECT_ERROR(EPERM, ::chmod(("/dev/fd/" + std::to_string(fd)).c_str(), 0));
    EXPECT_ERROR(EPERM, ::syscall(SYS_utimes, link.c_str(), kLongAgo));
    EXPECT_SUCCESS(::symlink(link.c_str(), "link"));
    if (::chmod("link", 0) == 0 || ::syscall(SYS_utimes, "link", kLongAgo) == 0)
      return failed(__FILE__, __LINE__);
    return 0;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  CHECK(facts_of(victim) == before);
  REQUIRE(seen.refused.size() == 11);
  CHECK(seen.refused[0] == "fchmod " + victim);
  CHECK(seen.refused[8] == "chmod " + victim);
}

TEST_CASE("nor by a path, which is named", "[notify][attributes]") {
  Scratch scratch, image;
  const std::string victim = image / "victim";
  make_file(victim);
  const Facts before = facts_of(victim);

  Seen seen = watch(beside(scratch), [&] {
    EXPECT_SUCCESS(::symlink(victim.c_str(), "link"));
    EXPECT_ERROR(EPERM, ::chmod(victim.c_str(), 0));
    EXPECT_ERROR(EPERM, ::chmod("link", 0));
    EXPECT_ERROR(EPERM, ::syscall(SYS_utimes, "link", kLongAgo));
    return 0;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  CHECK(facts_of(victim) == before);
  CHECK(seen.refused == Words{"chmod " + victim, "chmod " + scratch.path() + "/link",
                              "utimes " + scratch.path() + "/link"});
}

TEST_CASE("what is in scratch, and pipes and files in memory, may be changed by every way",
          "[notify][attributes]") {
  Scratch scratch;

  Seen seen = watch(beside(scratch), [] {
    struct stat status {};
    const int fd = ::open("f", O_CREAT | O_RDWR, 0600);
    EXPECT_SUCCESS(::fchmod(fd, 0640));
    EXPECT_SUCCESS(::fstat(fd, &status));
    if (status.st_mode != (S_IFREG | 0640)) return failed(__FILE__, __LINE__);
    EXPECT_SUCCESS(::chmod("f", 04755));  // rights of others are of no use there
    EXPECT_SUCCESS(::fstat(fd, &status));
    if (status.st_mode != (S_IFREG | 0755)) return failed(__FILE__, __LINE__);
    EXPECT_SUCCESS(::futimens(fd, kThen));
    EXPECT_SUCCESS(::fstat(fd, &status));
    if (status.st_mtim.tv_sec != 3 || status.st_mtim.tv_nsec != 4)
      return failed(__FILE__, __LINE__);
    EXPECT_SUCCESS(::syscall(SYS_utimes, "f", kLongAgo));
    EXPECT_SUCCESS(::fstat(fd, &status));
    if (status.st_mtim.tv_sec != 1) return failed(__FILE__, __LINE__);
    const utimbuf seconds = {5, 6};
    EXPECT_SUCCESS(::syscall(SYS_utime, "f", &seconds));
    EXPECT_SUCCESS(::fstat(fd, &status));
    if (status.st_mtim.tv_sec != 6) return failed(__FILE__, __LINE__);
    EXPECT_SUCCESS(::utimensat(AT_FDCWD, "f", nullptr, 0));
    EXPECT_SUCCESS(::chown("f", ::getuid(), static_cast<gid_t>(-1)));
    EXPECT_ERROR(EPERM, ::fchown(fd, 12345, static_cast<gid_t>(-1)));
    EXPECT_ERROR(EOPNOTSUPP, ::fsetxattr(fd, "user.x", "y", 1, 0));
    EXPECT_ERROR(ENOENT, ::chmod("absent", 0600));
    EXPECT_ERROR(EBADF, ::fchmod(999, 0600));
    EXPECT_ERROR(EFAULT, ::syscall(SYS_utimensat, fd, nullptr, 8, 0));
    int ends[2];
    EXPECT_SUCCESS(::pipe(ends));
    EXPECT_SUCCESS(::fchmod(ends[0], 0600));
    EXPECT_SUCCESS(::unlink("f"));
    EXPECT_SUCCESS(::fchmod(fd, 0600));  // nameless by now, and still its own
    return 0;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  CHECK(seen.refused.empty());
}

TEST_CASE("files of others are locked in appearance only", "[notify][attributes]") {
  Scratch scratch, image;
  make_file(image / "victim");

  Seen seen = watch(beside(scratch), [&] {
    const int mine = ::open((image / "victim").c_str(), O_RDONLY);
    const int again = ::open((image / "victim").c_str(), O_RDONLY);
    EXPECT_SUCCESS(::flock(mine, LOCK_EX));
    EXPECT_SUCCESS(::flock(again, LOCK_EX | LOCK_NB));
    const int in_scratch = ::open("f", O_CREAT | O_RDWR, 0600);
    const int in_scratch_again = ::open("f", O_RDWR);
    EXPECT_SUCCESS(::flock(in_scratch, LOCK_EX));
    EXPECT_ERROR(EWOULDBLOCK, ::flock(in_scratch_again, LOCK_EX | LOCK_NB));
    return 0;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  CHECK(seen.refused.empty());
}

TEST_CASE("where mounts are read-only nobody is asked", "[notify][attributes]") {
  Scratch scratch;
  Trial trial = beside(scratch);
  trial.variant.shared_files = false;

  Seen seen = watch(trial, [] {
    const int fd = ::open(".", O_RDONLY | O_DIRECTORY);
    EXPECT_SUCCESS(::fchmod(fd, 0700));
    EXPECT_SUCCESS(::flock(fd, LOCK_EX));
    return 0;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  CHECK(seen.proceeded + seen.quiet == 0);
}
// NOLINTEND(android-cloexec-*)
