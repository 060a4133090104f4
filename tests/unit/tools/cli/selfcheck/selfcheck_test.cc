#include "tools/cli/selfcheck/selfcheck.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "tools/cli/selfcheck/attempt.h"

namespace cli {
namespace {

using runtime::Outcome;

runtime::JobResult result_of(Outcome outcome, const std::string& out) {
  runtime::JobResult result;
  result.verdict.outcome = outcome;
  result.out.bytes = out;
  result.level = sandbox::Level::kFull;
  result.enforced = sandbox::Layers::all();
  result.exit = runtime::ExitStatus{};
  return result;
}

constexpr const char* kHeld = "{\"held\": true, \"how\": \"2 EPERM\", \"tried\": [\"a: EPERM\"]}\n";

Attempt attempt_of(const std::string& heading) {
  const std::string text = "\"\"\"Try it\n\n" + heading + "\n\"\"\"\n";
  return parse_attempt({"10_try", text}, "").value();
}

Witness witness_of(runtime::JobResult result) {
  Witness witness;
  witness.result = std::move(result);
  witness.neighbour = result_of(Outcome::kOk, "fine\n");
  witness.neighbour_output = "fine\n";
  witness.secret = "canary-1";
  return witness;
}

Standing judged(const Attempt& attempt, const Witness& witness) {
  return judge_attempt(attempt, witness).standing;
}

}  // namespace

TEST_CASE("an attempt's heading says where it must fail and how it may end", "[cli][selfcheck]") {
  Attempt attempt = attempt_of(
      "Promised: full, minimal\nNeeds: cgroup.memory\nBy: netns, seccomp\n"
      "Ends: OK, Signalled\nLimits: pids=12\nCall: solve");
  CHECK(attempt.title == "Try it");
  CHECK(attempt.promised == std::vector{sandbox::Level::kFull, sandbox::Level::kMinimal});
  CHECK(attempt.needs.has(sandbox::Layer::kCgroupMemory));
  CHECK(attempt.by.has(sandbox::Layer::kSeccomp));
  CHECK(attempt.ends == std::vector<std::string>{"OK", "Signalled"});
  CHECK(attempt.func == "solve");

  for (const char* wrong : {"Promised: most", "By: walls", "Colour: red", "nothing"}) {
    INFO(wrong);
    const std::string text = "\"\"\"Try it\n\n" + std::string(wrong) + "\n\"\"\"\n";
    CHECK_FALSE(parse_attempt({"10_try", text}, "").ok());
  }
  CHECK_FALSE(parse_attempt({"10_try", "print(1)\n"}, "").ok());
}

TEST_CASE("the built-in attempts are well-formed and told apart by name and title",
          "[cli][selfcheck]") {
  auto attempts = selfcheck_attempts();
  REQUIRE(attempts.ok());
  std::set<std::string> names, titles;
  for (const Attempt& each : *attempts) {
    CHECK(names.insert(each.name).second);
    CHECK(titles.insert(each.title).second);
  }
  CHECK(names.size() >= 38);
  CHECK_FALSE(selfcheck_program("neighbour").empty());
}

TEST_CASE("only what was seen to be refused counts as held", "[cli][selfcheck]") {
  const Attempt attempt = attempt_of("By: seccomp");
  Finding held = judge_attempt(attempt, witness_of(result_of(Outcome::kUnsafeCode, kHeld)));
  CHECK(held.standing == Standing::kHeld);
  CHECK(held.seen == "2 EPERM");
  CHECK(held.by == "seccomp");
  CHECK(held.tried == "[\"a: EPERM\"]");

  auto ends_as = [&attempt](Outcome outcome, const std::string& out) {
    return judged(attempt, witness_of(result_of(outcome, out)));
  };
  CHECK(ends_as(Outcome::kOk, "{\"held\": false, \"how\": \"got through\"}\n") ==
        Standing::kEscaped);
  CHECK(ends_as(Outcome::kOk, "{\"held\": null, \"how\": \"EIO\"}\n") == Standing::kUnclear);
  CHECK(ends_as(Outcome::kOk, "{\"how\": \"2 EPERM\"}\n") == Standing::kUnclear);
  CHECK(ends_as(Outcome::kOk, "held\n") == Standing::kUnclear);
  CHECK(ends_as(Outcome::kOk, "") == Standing::kUnclear);
  CHECK(ends_as(Outcome::kException, kHeld) == Standing::kUnclear);
  CHECK(ends_as(Outcome::kSignalled, kHeld) == Standing::kUnclear);
  CHECK(ends_as(Outcome::kTimeout, kHeld) == Standing::kUnclear);
  CHECK(ends_as(Outcome::kSandboxError, "") == Standing::kUnclear);
  CHECK(ends_as(Outcome::kUnsafeCode, "") == Standing::kUnclear);
}

TEST_CASE("a limit's own label tells; an end that passes for well is an escape",
          "[cli][selfcheck]") {
  const Attempt hog = attempt_of("Ends: MemoryLimitExceeded");
  CHECK(judged(hog, witness_of(result_of(Outcome::kMemoryLimit, ""))) == Standing::kHeld);
  CHECK(judged(hog, witness_of(result_of(Outcome::kOk, ""))) == Standing::kEscaped);
  CHECK(judged(hog, witness_of(result_of(Outcome::kTimeout, ""))) == Standing::kUnclear);
}

TEST_CASE("what others notice outweighs what the program says", "[cli][selfcheck]") {
  const Attempt attempt = attempt_of("Promised: contained");  // not at the level it ran at
  Witness fine = witness_of(result_of(Outcome::kOk, kHeld));
  CHECK(judged(attempt, fine) == Standing::kNotPromised);

  Witness damaged = fine;
  damaged.damage = "a listener of the host was reached";
  CHECK(judged(attempt, damaged) == Standing::kEscaped);

  Witness leaked = fine;
  leaked.result.err.bytes = "... canary-1 ...";
  CHECK(judged(attempt, leaked) == Standing::kEscaped);

  Witness disturbed = fine;
  disturbed.neighbour->verdict.outcome = Outcome::kMemoryLimit;
  CHECK(judged(attempt, disturbed) == Standing::kEscaped);

  Witness changed = fine;
  changed.neighbour->out.bytes = "fin\n";
  CHECK(judged(attempt, changed) == Standing::kEscaped);

  Witness alone = fine;
  alone.neighbour.reset();
  CHECK(judged(attempt, alone) == Standing::kEscaped);
}

TEST_CASE("a promise that needs a layer is none without it", "[cli][selfcheck]") {
  const Attempt attempt = attempt_of("Needs: cgroup.memory\nEnds: MemoryLimitExceeded");
  Witness witness = witness_of(result_of(Outcome::kOk, ""));
  witness.result.enforced = sandbox::Layers().with(sandbox::Layer::kSeccomp);
  CHECK(judged(attempt, witness) == Standing::kNotPromised);
}

TEST_CASE("nothing held, a missing layer or one doubt is no clean bill", "[cli][selfcheck]") {
  SelfcheckReport report{.level = "full", .enforced = "seccomp, caps"};
  CHECK_FALSE(report.all_held());
  report.findings.push_back({.name = "a", .standing = Standing::kHeld});
  report.findings.push_back({.name = "b", .standing = Standing::kNotPromised});
  CHECK(report.all_held());
  auto json = nlohmann::json::parse(selfcheck_json(report));
  CHECK(json["ok"] == true);
  CHECK(json["enforced"] == nlohmann::json({"seccomp", "caps"}));

  SelfcheckReport lacking = report;
  lacking.not_in_force = "landlock";
  CHECK_FALSE(lacking.all_held());
  report.findings.push_back({.name = "c", .standing = Standing::kUnclear});
  CHECK_FALSE(report.all_held());
}

}  // namespace cli
