#include "tools/cli/certify/saboteur.h"

#include <catch2/catch.hpp>

namespace cli {
namespace {

ProcessStatus alive(std::vector<int> numbers) { return {true, std::move(numbers)}; }

}  // namespace

TEST_CASE("the status of a process says whether it lives and how its namespaces number it",
          "[cli][certify]") {
  const ProcessStatus status = parse_status(
      "Name:\tpython3\nState:\tS (sleeping)\nPid:\t712\nNSpid:\t712\t31002\nVmPeak:\t1 kB\n");
  CHECK(status == alive({712, 31002}));
  CHECK_FALSE(parse_status("Name:\tpython3\nState:\tZ (zombie)\nNSpid:\t712\t2\n").is_alive);
  CHECK_FALSE(parse_status("").is_alive);
}

TEST_CASE("templates, cells and holders are killed, jobs are not", "[cli][certify]") {
  CHECK(is_target(1, alive({700})));
  CHECK(is_target(2, alive({701, 1})));
  CHECK(is_target(3, alive({702, 30000})));
  CHECK_FALSE(is_target(3, alive({703, 2})));
  CHECK_FALSE(is_target(3, alive({31000})));  // no namespace of its own: that is the host's number
  CHECK_FALSE(is_target(4, alive({704, 30001})));
  CHECK_FALSE(is_target(1, {false, {700}}));
}

TEST_CASE("a saboteur below whom there is nobody kills nobody, and ends at once",
          "[cli][certify]") {
  Saboteur saboteur(1, {[] { return 0; }, [] { return false; }});
  saboteur.stop();
  CHECK((saboteur.kills() == 0 && saboteur.daemon_kills() == 0));
}

}  // namespace cli
