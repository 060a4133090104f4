#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tools/cli/certify/certify.h"

namespace cli {
namespace {

Certificate some_certificate() {
  Certificate made{.corpus = "3 jobs of a.jsonl, seed 1", .seed = 1, .level = "full", .cpus = 2};
  made.rows = {
      {.load = 1, .workers = 2, .jobs = 900, .band = 50, .band_other_side = 5, .seconds = 3},
      {.load = 1,
       .workers = 2,
       .faults = true,
       .jobs = 100,
       .flips = 1,
       .kills = 7,
       .daemon_kills = 2,
       .runs_again = 3}};
  made.flips = {{"x\x1b[2J",
                 "a.jsonl:2",
                 {"OK", "KeyError"},
                 "IndexError",
                 "IndexError (line 1)",
                 {{"line", int64_t{1}}},
                 true,
                 1,
                 true}};
  return made;
}

}  // namespace

TEST_CASE("a certificate's table stands in columns", "[cli][certify]") {
  const Certificate made = some_certificate();
  const std::string head = certificate_head(made);
  CHECK(head.starts_with("3 jobs of a.jsonl, seed 1, level full, 2 cores\nload  faults"));
  const size_t width = head.size() - head.find('\n') - 1;
  for (const LoadRow& row : made.rows) CHECK(certificate_row(row, Style()).size() == width);
}

TEST_CASE("a certificate ends with the flips and, last, the rate and its interval",
          "[cli][certify]") {
  Certificate made = some_certificate();
  CHECK(
      certificate_end(made, Style()) ==
      "x\\x1b[2J (a.jsonl:2), load 1 with faults, contended: expected OK or KeyError, got "
      "IndexError (line 1)\n"
      "1 of 1000 labels flipped: 0.100 %, 95 % interval 0.0177 to 0.564 %; in the band 5 of 50 on "
      "the other side (10.00 %)");

  made.flips.assign(23, made.flips.front());
  const std::string many = certificate_end(made, Style());
  CHECK(std::count(many.begin(), many.end(), '\n') == 21);
  CHECK(many.find("\n... and 3 more\n") != many.npos);
}

TEST_CASE("a certificate as JSON has each load, the total and every flip", "[cli][certify]") {
  const auto object = nlohmann::json::parse(certificate_json(some_certificate()));
  CHECK(object["ok"] == false);
  CHECK(object["loads"][1]["kills"] == 7);
  CHECK(object["loads"][1]["daemon_kills"] == 2);
  CHECK(object["total"]["daemon_kills"] == 2);
  CHECK(object["total"]["runs_again"] == 3);
  CHECK(object["loads"][0]["band"]["other_side"] == 5);
  CHECK(object["total"]["flips"] == 1);
  CHECK_FALSE(object["total"].contains("load"));
  CHECK(object["flips"][0]["expected"] == std::vector<std::string>{"OK", "KeyError"});
  CHECK(object["flips"][0]["detail"]["line"] == 1);
}

}  // namespace cli
