#include "runtime/builds/command_rule.h"

#include <catch2/catch.hpp>

namespace runtime {

using sandbox::Profile;
using Use = KnownProgram::Use;

TEST_CASE("what a command may do is what its program is for", "[runtime][command]") {
  RuntimeSpec java, bash, c;
  bash.profile = Profile::kSubprocess;
  const KnownProgram known[] = {{"/python", Use::kRuns, nullptr}, {"/javac", Use::kCompiles, &java},
                                {"/java", Use::kRuns, &java},     {"/bash", Use::kRuns, &bash},
                                {"/gcc", Use::kCompiles, &c},     {"/both", Use::kCompiles, &c},
                                {"/both", Use::kRuns, &java}};

  CHECK(rule_of_own_program() == CommandRule{Profile::kDefault, Refusals::kDecide, nullptr});
  CHECK(rule_of_command("/python", known) == rule_of_own_program());
  CHECK(rule_of_command("/java", known) ==
        CommandRule{Profile::kDefault, Refusals::kDecide, &java});
  CHECK(rule_of_command("/both", known) == rule_of_command("/java", known));
  CHECK(rule_of_command("/bash", known) ==
        CommandRule{Profile::kSubprocess, Refusals::kOverlooked, &bash});
  CHECK(rule_of_command("/gcc", known) == CommandRule{Profile::kBuild, Refusals::kOverlooked, &c});
  CHECK(rule_of_command("/bin/ls", known) ==
        CommandRule{Profile::kSubprocess, Refusals::kOverlooked, nullptr});
}

}  // namespace runtime
