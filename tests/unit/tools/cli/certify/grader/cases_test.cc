#include "tools/cli/certify/grader/cases.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>

namespace cli {
namespace {

std::vector<std::string> programs_of(const std::vector<GraderCase>& cases) {
  std::vector<std::string> programs;
  for (const GraderCase& each : cases) programs.push_back(each.program);
  return programs;
}

std::set<std::pair<Intent, std::string>> names_of(const std::vector<GraderCase>& cases) {
  std::set<std::pair<Intent, std::string>> names;
  for (const GraderCase& each : cases) names.emplace(each.intent, each.variant);
  return names;
}

}  // namespace

TEST_CASE("a seed decides the cases", "[cli][grader]") {
  const auto of = [](uint64_t seed) {
    return programs_of(draw_cases(grader_corpus(), {.seed = seed}));
  };
  CHECK(of(3) == of(3));
  CHECK(of(3) != of(4));
}

TEST_CASE("a small number of cases has each exploit and variant", "[cli][grader]") {
  const auto all = draw_cases(grader_corpus(), {});
  const auto names = names_of(all);
  const auto few = draw_cases(grader_corpus(), {.count = names.size()});

  CHECK(few.size() == names.size());
  CHECK(names_of(few) == names);
  CHECK(all.size() > 250);
}

TEST_CASE("tasks of other kinds stay away", "[cli][grader]") {
  for (const GraderCase& each : draw_cases(grader_corpus(), {.kinds = {TaskKind::kStdin}}))
    CHECK(each.task->kind == TaskKind::kStdin);
  for (const GraderCase& each : draw_cases(grader_corpus(), {}))
    CHECK(each.task->kind != TaskKind::kStdin);
}

TEST_CASE("without a fence no exploit that needs one is drawn", "[cli][grader]") {
  const auto has = [](bool fenced) {
    const auto cases = draw_cases(grader_corpus(), {.fenced = fenced});
    return std::ranges::any_of(
        cases, [](const GraderCase& each) { return each.variant == "parent_killed"; });
  };
  CHECK(has(true));
  CHECK_FALSE(has(false));
}

TEST_CASE("a choice of names leaves the programs as they are", "[cli][grader]") {
  const auto chosen = draw_cases(grader_corpus(), {.only = {"exit_zero", "recursive"}, .seed = 9});
  const auto all = programs_of(draw_cases(grader_corpus(), {.seed = 9}));

  CHECK(names_of(chosen) == std::set<std::pair<Intent, std::string>>{
                                {Intent::kHonest, "recursive"}, {Intent::kExploit, "exit_zero"}});
  for (const GraderCase& each : chosen) CHECK(std::ranges::find(all, each.program) != all.end());
  CHECK(unknown_name(grader_corpus(), {"exit_zero", "renamed", "plain"}).empty());
  CHECK(unknown_name(grader_corpus(), {"exit_zero", "exit_one"}) == "exit_one");
}

TEST_CASE("what a grader reads does not tell what is expected of it", "[cli][grader]") {
  for (const GraderCase& each : draw_cases(grader_corpus(), {.only = {"exit_zero", "plain"}})) {
    const auto object = nlohmann::json::parse(case_json(each));
    CHECK(object["program"] == each.program);
    CHECK(object["entry_point"] == each.task->entry);
    CHECK(object["id"].get<std::string>().starts_with("case-"));
    CHECK(object.size() == 9);
    for (const char* field : {"task", "kind", "prompt", "check", "tests", "io"})
      CHECK(object.contains(field));
  }
}

TEST_CASE("tests of programs that read stdin are objects", "[cli][grader]") {
  const auto cases = draw_cases(grader_corpus(), {.kinds = {TaskKind::kStdin}, .count = 1});
  const auto object = nlohmann::json::parse(case_json(cases.front()));
  CHECK(object["io"][0].contains("stdin"));
  CHECK(object["io"][0].contains("expect"));
  CHECK(object["tests"] == "");
}

}  // namespace cli
