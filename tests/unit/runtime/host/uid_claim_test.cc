// Ranges of uids: nobody has another's, whoever sees whom.

#include "runtime/host/uid_claim.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <optional>
#include <set>
#include <vector>

using runtime::UidClaim;

namespace {

// No daemon uses these (theirs lie at 0x70000000 and above), nor a test that runs beside this one.
const UidClaim::Ranges kRanges{0x60000000 + 512 * (static_cast<uint32_t>(::getpid()) % 0x80000), 64,
                               8};

bool is_one_of(uint32_t first, const UidClaim::Ranges& ranges) {
  return first >= ranges.first && first < ranges.first + ranges.size * ranges.count &&
         (first - ranges.first) % ranges.size == 0;
}

// Tells whether a process of its own gets any of the ranges for itself.
bool another_process_finds_one(int namespaces) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (namespaces != 0 && ::unshare(namespaces) != 0) ::_exit(2);
    if (const pid_t inner = ::fork(); inner != 0) {  // the first of a new pid namespace
      int status = 0;
      ::waitpid(inner, &status, 0);
      ::_exit(WEXITSTATUS(status));
    }
    ::_exit(UidClaim::make(kRanges).is_exclusive() ? 1 : 0);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) != 2);
  return WEXITSTATUS(status) == 1;
}

}  // namespace

TEST_CASE("each claim has a range of its own until none is left", "[uids]") {
  std::vector<UidClaim> claims;
  std::set<uint32_t> seen;
  for (uint32_t i = 0; i < kRanges.count; ++i) {
    claims.push_back(UidClaim::make(kRanges));
    CHECK(claims.back().is_exclusive());
    CHECK(is_one_of(claims.back().first(), kRanges));
    seen.insert(claims.back().first());
  }
  CHECK(seen.size() == kRanges.count);

  const UidClaim shared = UidClaim::make(kRanges);
  CHECK_FALSE(shared.is_exclusive());
  CHECK(is_one_of(shared.first(), kRanges));

  const uint32_t free_again = claims[3].first();
  claims.erase(claims.begin() + 3);
  const UidClaim last = UidClaim::make(kRanges);
  CHECK(last.is_exclusive());
  CHECK(last.first() == free_again);
}

TEST_CASE("claims of different sizes do not overlap", "[uids]") {
  const UidClaim whole = UidClaim::make({kRanges.first, kRanges.size * kRanges.count, 1});
  REQUIRE(whole.is_exclusive());

  CHECK_FALSE(UidClaim::make(kRanges).is_exclusive());
}

TEST_CASE("a claim is seen from other namespaces, and ends with its owner", "[uids]") {
  const int namespaces = ::geteuid() == 0 ? CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET : 0;
  if (namespaces == 0) WARN("namespaces SKIPPED, they need root");
  std::optional<UidClaim> whole = UidClaim::make({kRanges.first, kRanges.size * kRanges.count, 1});
  REQUIRE(whole->is_exclusive());
  CHECK_FALSE(another_process_finds_one(namespaces));

  whole.reset();
  CHECK(another_process_finds_one(namespaces));
}
