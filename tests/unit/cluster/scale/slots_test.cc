// The commands of engines, and what they say.

#include "cluster/scale/slots.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace cluster {
namespace {

using Slots = std::vector<EngineSlot>;
using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("slots: Slurm's queue", "[slots]") {
  const auto slots =
      parse_queue(Engine::kSlurm,
                  "123_1|RUNNING|None\n123_2|PENDING|Resources\n"
                  "123_3|COMPLETING|None\n\n124|CONFIGURING|None\n125_1|CANCELLED|x\n");
  REQUIRE(slots);
  CHECK(*slots == Slots{{"123_1", false, ""}, {"123_2", true, "Resources"}, {"124", true, ""}});
  CHECK(pilot_of(Engine::kSlurm, "123_1") == "slurm-123_1");
}

TEST_CASE("slots: HTCondor's queue", "[slots]") {
  const auto slots = parse_queue(
      Engine::kHtcondor,
      "7.0 2 undefined\n7.1 1 undefined\n7.2 5 Transfer input files failure\n7.3 3 undefined\n");
  REQUIRE(slots);
  CHECK(*slots == Slots{{"7.0", false, ""},
                        {"7.1", true, ""},
                        {"7.2", true, "Transfer input files failure"}});
  CHECK(pilot_of(Engine::kHtcondor, "7.0") == "condor-7.0");
}

TEST_CASE("slots: a line that is none of a queue's is an error that shows it", "[slots]") {
  for (const char* text : {"slurm_load_jobs error: Unable to contact", "-3|RUNNING|None",
                           "123_|RUNNING|", "1_2_3|RUNNING|", "12", "123_1|RUN NING|x"}) {
    INFO(text);
    const auto slots = parse_queue(Engine::kSlurm, text);
    REQUIRE_FALSE(slots);
    CHECK(slots.error().text() == std::string("no line of the queue: ") + text);
  }
  for (const char* text : {"7 2 undefined", "7.0 9 undefined", "7.0", "-7.0 2 x", "7.0 22 x"}) {
    INFO(text);
    CHECK_FALSE(parse_queue(Engine::kHtcondor, text));
  }
  CHECK(parse_queue(Engine::kSlurm, "\x1b[31m\n").error().text() == "no line of the queue: ?[31m");
  CHECK(parse_queue(Engine::kHtcondor, " \r\n\n")->empty());
}

TEST_CASE("slots: what an engine says of one is short, and safe to show", "[slots]") {
  const auto slots =
      parse_queue(Engine::kSlurm, "1|PENDING|\x1b]0;\a" + std::string(1000, 'x') + "\n");
  REQUIRE(slots);
  CHECK(slots->front().trouble == "?]0;?" + std::string(195, 'x'));
}

TEST_CASE("slots: commands", "[slots]") {
  const EngineCommand slurm =
      submit_command(Engine::kSlurm, "zygo-scale", "#!/bin/sh\n", {"partition=short"});
  CHECK(slurm.argv == Words{"sbatch", "--parsable", "--job-name=zygo-scale", "--partition=short"});
  CHECK(slurm.input == "#!/bin/sh\n");
  CHECK(
      submit_command(Engine::kHtcondor, "zygo-scale", "queue 1\n", {"+Group=a"}).argv ==
      Words{"condor_submit", "-terse", "-batch-name", "zygo-scale", "-append", "+Group = a", "-"});
  CHECK(queue_command(Engine::kSlurm, "n").argv.front() == "squeue");
  CHECK(queue_command(Engine::kHtcondor, "n").argv.at(2) == "JobBatchName == \"n\"");
  CHECK(cancel_command(Engine::kSlurm, {"1_2", "3"}).argv == Words{"scancel", "1_2", "3"});
  CHECK(cancel_command(Engine::kHtcondor, {"1.2"}).argv == Words{"condor_rm", "1.2"});
}

TEST_CASE("slots: a directive is a name and a value, and contradicts nothing", "[slots]") {
  CHECK(objection_to_directive(Engine::kSlurm, "partition=short").empty());
  CHECK(objection_to_directive(Engine::kHtcondor, "+Group=\"a b\"").empty());
  CHECK(objection_to_directive(Engine::kHtcondor, "array=1").empty());  // Slurm's alone
  CHECK(objection_to_directive(Engine::kSlurm, "array=1-9") == "it is said by other options");
  CHECK(objection_to_directive(Engine::kHtcondor, "queue=9") == "it is said by other options");
  CHECK(objection_to_directive(Engine::kSlurm, "partition=a\nb") == "it has a control character");
  for (const char* wrong : {"partition", "=short", "-p=short", "a b=c", ""})
    CHECK(objection_to_directive(Engine::kSlurm, wrong) == "expected NAME=VALUE");
}

TEST_CASE("slots: names", "[slots]") {
  CHECK(objection_to_slot_name("zygo-scale_2.b").empty());
  for (const auto& wrong : Words{"", "-a", "a b", "a\"", std::string(65, 'a')})
    CHECK_FALSE(objection_to_slot_name(wrong).empty());
}

}  // namespace cluster
