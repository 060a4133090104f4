#pragma once
// The rule for a command whose caller names a program and no language: it follows from what that
// program is for in the runtimes that are offered here.

#include <cstdint>
#include <span>
#include <string>

#include "runtime/builds/runtime_spec.h"
#include "runtime/job/job.h"
#include "sandbox/policy.h"

namespace runtime {

// A program of the image that runtimes name.
struct KnownProgram {
  enum class Use : uint8_t { kRuns, kCompiles };
  std::string target;  // target_of() its path
  Use use = Use::kRuns;
  const RuntimeSpec* language = nullptr;  // none: Python
};

struct CommandRule {
  sandbox::Profile profile = sandbox::Profile::kDefault;
  Refusals refusals = Refusals::kDecide;
  const RuntimeSpec* language = nullptr;  // whose own start makes calls that are forgiven
  bool operator==(const CommandRule&) const = default;
};

// The rule for a program that came with the job and is executed from sealed memory: that of the
// programs that compiled runtimes make.
CommandRule rule_of_own_program();

// Returns where the links of an absolute path lead. Below a `root` of its own (empty: the host) a
// link may lead anywhere, so the path itself is returned.
std::string target_of(const std::string& path, const std::string& root);

// The rule for a program of the image, by its target. Pure. A program that runs those of a language
// gets what that runtime gives; a compiler gets `build`; any other may start programs of the image,
// for nobody knows what it is. Where other programs may be started, a refused call does not decide:
// tools of all kinds try what they can do without, and say by their exit how they fared.
CommandRule rule_of_command(const std::string& target, std::span<const KnownProgram> known);

}  // namespace runtime
