#include "service/apis/results.h"

#include <catch2/catch.hpp>

#include "runtime/json/result/result_json.h"

namespace service {

using nlohmann::json;

// Clients of a foreign API and of ours read the same words of the same result.
TEST_CASE("facts in foreign answers are those of the result's JSON", "[service][foreign]") {
  runtime::JobResult result;
  result.id = "j-1";
  result.template_id = "python@sha256:0";
  result.level = sandbox::Level::kContained;
  result.verdict = {runtime::Outcome::kMemoryLimit,
                    "",
                    runtime::By::kLimit,
                    {{"text", std::string("broken \xff")},
                     {"number", int64_t{7}},
                     {"real", 0.5},
                     {"flag", true}}};
  result.usage = {.cpu_us = 1500, .wall_us = 2499, .stopped_us = 12, .memory_peak_bytes = 4097};
  SECTION("with a level") {}
  SECTION("of a job that never reached a cell") { result.level.reset(); }
  std::string text;
  runtime::append_result(result, text);
  const json ours = json::parse(text);
  const json facts = json::parse(line_of(facts_of(result)));
  for (const auto& [key, value] : facts.items()) CHECK(value == ours.at(key));
  CHECK(facts.size() == 5);
  CHECK(usage_of(result.usage) == ours.at("usage"));
  CHECK(json::parse(text_of_detail(result.verdict)) == ours.at("detail"));
}

TEST_CASE("a program's own exception is no limit, whatever it is called", "[service][foreign]") {
  const runtime::Verdict own{
      runtime::Outcome::kException, "RateLimitExceeded", runtime::By::kProgram, {}};
  CHECK(own.label() == "RateLimitExceeded");
  CHECK_FALSE(met_limit_of_space(own));
}

}  // namespace service
