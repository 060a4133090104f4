#include "runtime/builds/command_rule.h"

#include <climits>
#include <cstdlib>

namespace runtime {

using sandbox::Profile;

namespace {

CommandRule rule_of(Profile profile, const RuntimeSpec* language) {
  const bool starts_others = profile == Profile::kSubprocess || profile == Profile::kBuild;
  return {profile, starts_others ? Refusals::kOverlooked : Refusals::kDecide, language};
}

}  // namespace

CommandRule rule_of_own_program() { return rule_of(Profile::kDefault, nullptr); }

std::string target_of(const std::string& path, const std::string& root) {
  char resolved[PATH_MAX];
  return root.empty() && ::realpath(path.c_str(), resolved) ? resolved : path;
}

CommandRule rule_of_command(const std::string& target, std::span<const KnownProgram> known) {
  const KnownProgram* compiler = nullptr;
  for (const KnownProgram& other : known) {
    if (other.target != target) continue;
    if (other.use == KnownProgram::Use::kRuns)
      return rule_of(other.language ? other.language->profile : Profile::kDefault, other.language);
    compiler = &other;
  }
  return compiler ? rule_of(Profile::kBuild, compiler->language)
                  : rule_of(Profile::kSubprocess, nullptr);
}

}  // namespace runtime
