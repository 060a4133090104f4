#include "sandbox/landlock.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace sandbox {

using sys::Error;
using sys::OwnedFd;
using sys::Result;

namespace {

// Newer than the header of Debian 12, so everything is spelled out here.
enum Access : uint64_t {
  kExecute = 1ULL << 0,  // ABI 1, Linux 5.13
  kWriteFile = 1ULL << 1,
  kReadFile = 1ULL << 2,
  kReadDir = 1ULL << 3,
  kMakeChar = 1ULL << 6,
  kMakeBlock = 1ULL << 11,
  kRefer = 1ULL << 13,     // ABI 2, Linux 5.19: link and rename across directories
  kTruncate = 1ULL << 14,  // ABI 3, Linux 6.2
  kIoctlDev = 1ULL << 15,  // ABI 5, Linux 6.10
};
constexpr uint64_t kFilesOfAbi1 = (1ULL << 13) - 1;
constexpr uint64_t kNetworkOfAbi4 = 3;  // Linux 6.7: TCP bind, TCP connect
constexpr uint64_t kScopesOfAbi6 = 3;   // Linux 6.12: abstract Unix sockets, signals

struct RulesetAttr {
  uint64_t handled_access_fs;
  uint64_t handled_access_net;
  uint64_t scoped;
};
// The kernel's layout is packed: 12 bytes.
struct [[gnu::packed]] PathBeneath {
  uint64_t allowed_access;
  int32_t parent_fd;
};
constexpr unsigned kVersionQuery = 1;
constexpr int kRulePathBeneath = 1;
// ABI 7, Linux 6.15: no log of denials here, nor in domains nested below.
constexpr unsigned kQuiet = (1u << 0) | (1u << 2);

uint64_t file_rights(int abi) {
  uint64_t rights = kFilesOfAbi1;
  if (abi >= 2) rights |= kRefer;
  if (abi >= 3) rights |= kTruncate;
  if (abi >= 5) rights |= kIoctlDev;
  return rights;
}

// Rights that make sense for a file; the kernel refuses the others on it.
constexpr uint64_t kOnFiles = kExecute | kWriteFile | kReadFile | kTruncate;

Result<void> allow_beneath(int ruleset, int fd, uint64_t rights) {
  struct stat about {};
  if (::fstat(fd, &about) < 0) return Error::from_errno("stat a Landlock path");
  if (!S_ISDIR(about.st_mode)) rights &= kOnFiles;
  PathBeneath rule{.allowed_access = rights, .parent_fd = fd};
  if (::syscall(SYS_landlock_add_rule, ruleset, kRulePathBeneath, &rule, 0u) < 0) {
    return Error::from_errno("add a Landlock rule");
  }
  return {};
}

}  // namespace

int landlock_abi() {
  long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, size_t{0}, kVersionQuery);
  return abi > 0 ? static_cast<int>(abi) : 0;
}

Result<OwnedFd> make_ruleset(const LandlockRules& rules) {
  const int abi = landlock_abi();
  if (abi == 0) return Error::from_errno("query Landlock", ENOSYS);
  const uint64_t handled = file_rights(abi);
  RulesetAttr attr{.handled_access_fs = handled,
                   .handled_access_net = abi >= 4 ? kNetworkOfAbi4 : 0,
                   .scoped = abi >= 6 ? kScopesOfAbi6 : 0};
  // An older kernel takes the longer structure because the fields it does not know are zero.
  OwnedFd ruleset(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0u)));
  if (!ruleset) return Error::from_errno("create a Landlock ruleset");

  uint64_t in_scratch = handled & ~(kMakeChar | kMakeBlock | kIoctlDev);
  if (rules.in_scratch == LandlockRules::Execution::kDenied) in_scratch &= ~uint64_t{kExecute};
  for (int fd : rules.readable) {
    TRY(allow_beneath(ruleset.get(), fd, kExecute | kReadFile | kReadDir));
  }
  for (int fd : rules.listable) TRY(allow_beneath(ruleset.get(), fd, kReadDir));
  for (int fd : rules.scratch) TRY(allow_beneath(ruleset.get(), fd, in_scratch));
  for (int fd : rules.devices) {
    TRY(allow_beneath(ruleset.get(), fd, handled & (kReadFile | kWriteFile | kTruncate)));
  }
  return ruleset;
}

int restrict_self(int ruleset) {
  if (::syscall(SYS_landlock_restrict_self, ruleset, kQuiet) == 0) return 0;
  // Kernels before 6.15 know no flags, and log nothing.
  if (errno != EINVAL) return errno;
  return ::syscall(SYS_landlock_restrict_self, ruleset, 0u) == 0 ? 0 : errno;
}

}  // namespace sandbox
