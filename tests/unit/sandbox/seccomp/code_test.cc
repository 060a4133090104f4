// Nothing that is or was writable becomes executable, by the filter alone.
#include <fcntl.h>
#include <sys/mman.h>

#include "tests/unit/sandbox/seccomp/filter.h"

using namespace sandbox;
using namespace sandbox::test;

namespace {

constexpr uint64_t kAny = 0;
constexpr uint64_t kGarbage = uint64_t{5} << 32;  // the kernel looks at the lower half

Action map(const std::string& filter, uint64_t prot, uint64_t flags) {
  return act(filter, "mmap", {kAny, 4096, prot, flags, kAny, kAny});
}

}  // namespace

TEST_CASE("memory that can be written is not made executable", "[seccomp][code]") {
  for (Profile profile : {Profile::kPure, Profile::kDefault}) {
    const std::string& filter = filter_of(profile);
    for (const char* call : {"mprotect", "pkey_mprotect"}) {
      for (uint64_t prot : {PROT_EXEC, PROT_READ | PROT_EXEC, PROT_READ | PROT_WRITE | PROT_EXEC}) {
        CHECK(act(filter, call, {kAny, 4096, prot}) == quiet(EACCES));
        CHECK(act(filter, call, {kAny, 4096, prot | kGarbage}) == quiet(EACCES));
      }
      CHECK(act(filter, call, {kAny, 4096, PROT_READ | PROT_WRITE}) == kGo);
      CHECK(act(filter, call, {kAny, 4096, PROT_NONE}) == kGo);
    }
    const uint64_t writable = PROT_READ | PROT_WRITE | PROT_EXEC;
    for (uint64_t flags : {MAP_PRIVATE, MAP_SHARED, MAP_PRIVATE | MAP_ANONYMOUS,
                           MAP_SHARED | MAP_ANONYMOUS, MAP_PRIVATE | MAP_FIXED}) {
      CHECK(map(filter, writable, flags) == quiet(ENOMEM));
      CHECK(map(filter, PROT_WRITE | PROT_EXEC | kGarbage, flags) == quiet(ENOMEM));
      CHECK(map(filter, PROT_READ | PROT_WRITE, flags) == kGo);
    }
    CHECK(map(filter, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS) == quiet(ENOMEM));
    CHECK(map(filter, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_HUGETLB) == quiet(ENOMEM));
  }
}

TEST_CASE("libraries of the image can be mapped", "[seccomp][code]") {
  for (Profile profile : kProfiles) {
    CHECK(map(filter_of(profile), PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_DENYWRITE) == kGo);
    CHECK(map(filter_of(profile), PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED) == kGo);
  }
}

TEST_CASE("files in memory, which can be mapped executable, are had where code may be made",
          "[seccomp][code]") {
  const FilterVariant making = only(&FilterVariant::makes_code);
  CHECK(act(Profile::kPure, "memfd_create", {kAny, 0}) == kAsk);
  CHECK(act(Profile::kDefault, "memfd_create", {kAny, 0}) == quiet(ENOSYS));
  CHECK(act(filter_of(Profile::kDefault, making), "memfd_create", {kAny, 0}) == kGo);
  CHECK(act(Profile::kSubprocess, "memfd_create", {kAny, 0}) == kGo);
}

TEST_CASE("what makes machine code may, and so may programs that were made in scratch",
          "[seccomp][code]") {
  const FilterVariant making = only(&FilterVariant::makes_code);
  const uint64_t all = PROT_READ | PROT_WRITE | PROT_EXEC;
  for (const std::string* filter :
       {&filter_of(Profile::kDefault, making), &filter_of(Profile::kSubprocess),
        &filter_of(Profile::kBuild)}) {
    CHECK(map(*filter, all, MAP_PRIVATE | MAP_ANONYMOUS) == kGo);
    CHECK(act(*filter, "mprotect", {kAny, 4096, PROT_READ | PROT_EXEC}) == kGo);
    CHECK(act(*filter, "pkey_mprotect", {kAny, 4096, PROT_READ | PROT_EXEC}) == kGo);
  }
}

TEST_CASE("readable memory is never executable by a personality, in any profile",
          "[seccomp][code]") {
  constexpr uint64_t kReadImpliesExec = 0x0400000;
  for (Profile profile : kProfiles) {
    CHECK(act(profile, "personality", {kReadImpliesExec}) == kAsk);
    CHECK(act(filter_of(profile, only(&FilterVariant::makes_code)), "personality",
              {kReadImpliesExec}) == kAsk);
    CHECK(act(profile, "shmat", {kAny, kAny, 0100000}) == kAsk);  // SHM_EXEC
  }
}

TEST_CASE("a hint about the use of a file, which outlives the job, is not given", "[seccomp]") {
  for (Profile profile : kProfiles) {
    CHECK(act(profile, "fcntl", {3, F_SET_RW_HINT}) == quiet(0));
    CHECK(act(profile, "fcntl", {3, F_GET_RW_HINT}) == kGo);
  }
}
