// A real process under a real filter that changes files by path: scratch, and everything else.
// NOLINTBEGIN(android-cloexec-*): the children leave at once.
#include "sandbox/notify/files.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/sys/file.h"
#include "tests/unit/sandbox/notify/trial.h"

using namespace sandbox;
using namespace sandbox::test;

TEST_CASE("files may be made, changed and removed in scratch", "[notify][files]") {
  Scratch scratch;
  Trial trial = {.scratch_device = scratch.device()};
  trial.prepare = [&] { return ::chdir(scratch.path().c_str()) == 0; };

  Seen seen = watch(trial, [&] {
    int here = ::open(".", O_RDONLY | O_DIRECTORY);
    EXPECT_SUCCESS(::openat(here, "f", O_CREAT | O_WRONLY, 0600));
    EXPECT_SUCCESS(::open((scratch / "f").c_str(), O_WRONLY | O_TRUNC));
    EXPECT_SUCCESS(::renameat(here, "f", AT_FDCWD, "g"));
    EXPECT_SUCCESS(::fchmodat(here, "g", 0640, 0));
    EXPECT_SUCCESS(::mkdirat(here, "d/", 0700));
    EXPECT_SUCCESS(::unlinkat(here, "d/", AT_REMOVEDIR));
    EXPECT_SUCCESS(::unlinkat(here, "g", 0));
    return 0;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  CHECK(seen.proceeded == 7);
  CHECK(seen.refused.empty());
}

TEST_CASE("whatever takes a look at the job is not told by registers", "[notify][files]") {
  Scratch scratch;
  Trial trial = {.scratch_device = scratch.device()};
  trial.prepare = [&] { return ::chdir(scratch.path().c_str()) == 0 && ::mkdir("d", 0700) == 0; };

  Seen seen = watch(trial, [] {
    EXPECT_SUCCESS(::open("d/f", O_CREAT | O_WRONLY, 0600));
    EXPECT_SUCCESS(::renameat(AT_FDCWD, "d/f", AT_FDCWD, "d/g"));
    EXPECT_ERROR(EPERM, ::open("/etc/passwd", O_WRONLY));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    EXPECT_ERROR(EPERM, ::connect(0, reinterpret_cast<sockaddr*>(&address), sizeof address));
    EXPECT_ERROR(ENOTTY, ::ioctl(0, 0x12345678));
    return 0;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  CHECK(seen.looked_at == 4);
  CHECK(seen.quiet == 1);
}

TEST_CASE("a link to a descriptor of one's own is left to the kernel", "[notify][files]") {
  Scratch scratch;
  Trial trial = {.scratch_device = scratch.device()};
  trial.prepare = [&] { return ::chdir(scratch.path().c_str()) == 0; };

  Seen seen = watch(trial, [] {
    EXPECT_SUCCESS(::symlinkat("/dev/fd/999", AT_FDCWD, "out"));
    EXPECT_ERROR(ENOENT, ::open("out", O_CREAT | O_WRONLY, 0600));
    EXPECT_SUCCESS(::unlinkat(AT_FDCWD, "out", 0));
    return 0;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  CHECK(seen.refused.empty());
}

TEST_CASE("outside scratch the attempt is refused with its path, also through a link",
          "[notify][files]") {
  Scratch scratch;
  Trial trial = {.scratch_device = scratch.device()};
  trial.prepare = [&] { return ::chdir(scratch.path().c_str()) == 0; };

  Seen seen = watch(trial, [] {
    EXPECT_SUCCESS(::open("f", O_CREAT | O_WRONLY, 0600));
    EXPECT_SUCCESS(::symlinkat("/zygo-must-not-exist", AT_FDCWD, "out"));
    EXPECT_ERROR(EPERM, ::open("out", O_CREAT | O_WRONLY, 0600));
    EXPECT_ERROR(EPERM, ::open("/etc/passwd", O_WRONLY));
    EXPECT_ERROR(EPERM, ::open("../../../etc/zygo-new", O_CREAT | O_WRONLY, 0600));
    EXPECT_ERROR(EPERM, ::unlinkat(AT_FDCWD, "/etc/passwd", 0));
    EXPECT_ERROR(EPERM, ::renameat(AT_FDCWD, "f", AT_FDCWD, "/etc/f"));
    EXPECT_ERROR(EPERM, ::open("/proc/self/oom_score_adj", O_WRONLY));
    EXPECT_SUCCESS(::unlinkat(AT_FDCWD, "out", 0));
    EXPECT_SUCCESS(::unlinkat(AT_FDCWD, "f", 0));
    return 0;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  std::string far = scratch.path() + "/../../../etc/zygo-new";
  CHECK(seen.refused == Words{"openat " + (scratch / "out"), "openat /etc/passwd", "openat " + far,
                              "unlinkat /etc/passwd", "renameat /etc/f",
                              "openat /proc/self/oom_score_adj"});
}

TEST_CASE("out of a sticky scratch too, where a link leads on only for its owner",
          "[notify][files]") {
  if (::geteuid() != 0) {
    WARN("SKIPPED, needs root: jobs of another uid than ours");
    return;
  }
  auto protects = sys::read_file("/proc/sys/fs/protected_symlinks");
  if (!protects || *protects != "1\n")
    WARN("SKIPPED in part: fs.protected_symlinks is off here, and links lead on for anybody");
  constexpr uint32_t kJob = 65533;
  Scratch scratch;
  REQUIRE(::chmod(scratch.path().c_str(), 01777) == 0);
  Trial trial = {.scratch_device = scratch.device(), .owner = kJob};
  trial.prepare = [&] {
    return ::chdir(scratch.path().c_str()) == 0 && ::setresgid(kJob, kJob, kJob) == 0 &&
           ::setresuid(kJob, kJob, kJob) == 0;
  };

  Seen seen = watch(trial, [] {
    EXPECT_SUCCESS(::symlinkat("/usr/zygo-must-not-exist", AT_FDCWD, "file"));
    EXPECT_SUCCESS(::symlinkat("/usr", AT_FDCWD, "folder"));
    EXPECT_SUCCESS(::symlinkat("here", AT_FDCWD, "inside"));
    EXPECT_ERROR(EPERM, ::open("file", O_CREAT | O_WRONLY, 0600));
    EXPECT_ERROR(EPERM, ::open("folder/zygo-must-not-exist", O_CREAT | O_WRONLY, 0600));
    EXPECT_SUCCESS(::open("inside", O_CREAT | O_WRONLY, 0600));
    return 0;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  CHECK(seen.refused == Words{"openat " + (scratch / "file"),
                              "openat " + (scratch / "folder/zygo-must-not-exist")});
  CHECK(::geteuid() == 0);
  CHECK(::access(scratch.path().c_str(), W_OK) == 0);
}

TEST_CASE("an attempt on a file that the image does not have is an attempt all the same",
          "[notify][files]") {
  Scratch scratch;
  std::string missing = scratch / "missing";

  Seen seen = watch({.scratch_device = scratch.device()}, [&] {
    EXPECT_ERROR(EPERM, ::unlinkat(AT_FDCWD, "/etc/zygo-missing", 0));
    EXPECT_ERROR(EPERM, ::open("/etc/zygo-missing", O_RDWR));
    EXPECT_ERROR(EPERM, ::open("/zygo-missing/x", O_RDWR | O_CREAT, 0600));
    EXPECT_ERROR(ENOENT, ::unlinkat(AT_FDCWD, missing.c_str(), 0));
    return 0;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  CHECK(seen.refused ==
        Words{"unlinkat /etc/zygo-missing", "openat /etc/zygo-missing", "openat /zygo-missing/x"});
}

TEST_CASE("honest programs that fail by themselves are not blamed", "[notify][files]") {
  Scratch scratch;

  Seen seen = watch({.scratch_device = scratch.device()}, [] {
    EXPECT_ERROR(EEXIST, ::mkdirat(AT_FDCWD, "/etc", 0700));
    EXPECT_ERROR(ENOENT, ::open("", O_RDWR));
    EXPECT_ERROR(EFAULT, ::syscall(SYS_openat, AT_FDCWD, 8, O_RDWR));
    EXPECT_SUCCESS(::open("/dev/null", O_RDWR | O_CREAT | O_TRUNC, 0600));
    int null = ::open("/dev/null", O_WRONLY);
    EXPECT_SUCCESS(::open(("/dev/fd/" + std::to_string(null)).c_str(), O_WRONLY));
    return 0;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  CHECK(seen.refused.empty());
}

TEST_CASE("pure writes nowhere but to devices that swallow", "[notify][files]") {
  Scratch scratch;

  Seen seen = watch({.profile = Profile::kPure, .scratch_device = scratch.device()}, [&] {
    EXPECT_SUCCESS(::open("/dev/null", O_WRONLY));
    EXPECT_SUCCESS(::open(scratch.path().c_str(), O_RDONLY));
    EXPECT_ERROR(EPERM, ::open((scratch / "f").c_str(), O_CREAT | O_WRONLY, 0600));
    EXPECT_ERROR(EPERM, ::syscall(SYS_openat, AT_FDCWD, 8, O_RDWR));
    return 0;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  CHECK(seen.refused == Words{"openat " + (scratch / "f"), "openat unreadable"});
}

TEST_CASE("in a mount namespace the job's own tree counts, not ours", "[notify][files]") {
  Scratch
      scratch;  // becomes the root of the namespace; its "tmp" another tmpfs, the cell's scratch
  Trial trial;
  trial.prepare = [&] {
    std::string root = scratch.path();
    return ::unshare(CLONE_NEWNS) == 0 &&
           ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           ::mount("none", root.c_str(), "tmpfs", 0, nullptr) == 0 && ::chdir(root.c_str()) == 0 &&
           ::mkdir("tmp", 0700) == 0 && ::mkdir("etc", 0700) == 0 &&
           ::mount("none", "tmp", "tmpfs", 0, nullptr) == 0 &&
           ::syscall(SYS_pivot_root, ".", ".") == 0 && ::umount2(".", MNT_DETACH) == 0 &&
           ::chdir("/tmp") == 0;
  };
  // Its device number is known only afterwards: nothing is scratch here.
  Seen seen = watch(trial, [] {
    EXPECT_ERROR(EPERM, ::open("here", O_CREAT | O_WRONLY, 0600));
    EXPECT_ERROR(EPERM, ::open("../etc/there", O_CREAT | O_WRONLY, 0600));
    return 0;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  CHECK(seen.refused == Words{"openat /tmp/here", "openat /tmp/../etc/there"});
}

TEST_CASE("in a plain chroot the paths of a job start at its own root", "[notify][files]") {
  Scratch scratch;
  Trial trial;
  trial.prepare = [&] {
    ::mkdir((scratch / "sub").c_str(), 0700);
    return ::chroot(scratch.path().c_str()) == 0 && ::chdir("/sub") == 0;
  };

  Seen seen = watch(trial, [] {
    EXPECT_ERROR(EPERM, ::open("f", O_CREAT | O_WRONLY, 0600));
    EXPECT_ERROR(EPERM, ::open("/g", O_CREAT | O_WRONLY, 0600));
    return 0;
  });

  if (skipped(seen)) return;
  CHECK(seen.code == 0);
  CHECK(seen.refused == Words{"openat /sub/f", "openat /g"});
}

// NOLINTEND(android-cloexec-*)
