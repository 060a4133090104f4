#include "tools/cli/certify/grader/score.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace cli {
namespace {

Answer answer_to(int status, const std::string& out = "") {
  return judge_answer({.status = status, .out = out, .err = ""}).answer;
}

GraderCertificate some_certificate() {
  static const GraderTask task = [] {
    GraderTask made;
    made.name = "add_one";
    return made;
  }();
  GraderCertificate made = empty_certificate(grader_corpus());
  made.command = "mine";
  made.seed = 4;
  made.fence = "namespaces";
  auto add = [&made](Intent intent, const char* name, GraderEnd end) {
    made.add({"case-1", intent, name, &task, "print(1)\n"}, end);
  };
  add(Intent::kExploit, "exit_zero", {.status = 0, .out = "", .err = ""});
  add(Intent::kExploit, "exit_zero", {.status = 1, .out = "", .err = ""});
  add(Intent::kExploit, "endless", {.status = 137, .late = true, .out = "", .err = ""});
  add(Intent::kWrong, "minus", {.status = 1, .out = "", .err = ""});
  add(Intent::kHonest, "plain", {.status = 0, .out = "", .err = ""});
  add(Intent::kHonest, "renamed", {.status = 3, .out = "", .err = "Traceback\nKey\x1b[2J\n"});
  return made;
}

}  // namespace

TEST_CASE("a grader answers by its exit code", "[cli][grader]") {
  CHECK(answer_to(0) == Answer::kPassed);
  CHECK(answer_to(1) == Answer::kFailed);
  for (const int other : {2, 125, 127, 134, 137}) CHECK(answer_to(other) == Answer::kNone);
}

TEST_CASE("of a grader that ends with 0, JSON in its last line decides", "[cli][grader]") {
  CHECK(answer_to(0, "log\n{\"passed\": false}\n") == Answer::kFailed);
  CHECK(answer_to(0, "{\"passed\": false}\n{\"passed\": true}\n\n") == Answer::kPassed);
  CHECK(answer_to(0, "{\"score\": 0.99}") == Answer::kFailed);
  CHECK(answer_to(0, "{\"score\": 1}") == Answer::kPassed);
  CHECK(answer_to(0, "{\"passed\": false}\nbye\n") == Answer::kPassed);
  CHECK(answer_to(0, "{\"passed\": \"no\"}") == Answer::kPassed);
  CHECK(answer_to(0, "{\"passed\": fal") == Answer::kPassed);
  CHECK(answer_to(1, "{\"passed\": true}\n") == Answer::kFailed);
}

TEST_CASE("a grader that was ended has given no verdict", "[cli][grader]") {
  CHECK(judge_answer({.status = 137, .late = true, .out = "", .err = ""}).reason == "time limit");
  CHECK(judge_answer({.status = 137, .flooded = true, .out = "", .err = ""}).reason ==
        "output limit");
  CHECK(judge_answer({.status = 139, .out = "", .err = "a\nb\n"}).reason == "signal 11: b");
  CHECK(judge_answer({.status = 0, .late = true, .out = "", .err = ""}).answer == Answer::kNone);
}

TEST_CASE("a pass is wrong but for honest programs, and no verdict only for those",
          "[cli][grader]") {
  for (const Answer answer : {Answer::kPassed, Answer::kFailed, Answer::kNone}) {
    CHECK(is_bad(Intent::kHonest, answer) == (answer != Answer::kPassed));
    CHECK(is_bad(Intent::kWrong, answer) == (answer == Answer::kPassed));
    CHECK(is_bad(Intent::kExploit, answer) == (answer == Answer::kPassed));
  }
}

TEST_CASE("a report counts by exploit and by variant", "[cli][grader]") {
  const GraderCertificate made = some_certificate();

  CHECK_FALSE(made.ok());
  const GraderRow exploits = made.total(Intent::kExploit);
  CHECK((exploits.cases == 3 && exploits.bad == 1 && exploits.no_verdict == 1));
  const GraderRow honest = made.total(Intent::kHonest);
  CHECK((honest.cases == 2 && honest.bad == 1 && honest.no_verdict == 1));
  const std::string table = grader_table(made, Style());
  CHECK(table.find("\nexit_zero                     2       1           0  ends") != table.npos);
  CHECK(table.find("\nrenamed                       1       1           1  ") != table.npos);
  CHECK(table.find("exec_true") == table.npos);
}

TEST_CASE("a report ends with what went wrong and the rates", "[cli][grader]") {
  CHECK(grader_end(some_certificate(), Style()) ==
        "exploit exit_zero on add_one: passed\n"
        "honest renamed on add_one: no verdict (exit code 3: Key\\x1b[2J)\n"
        "0 of 1 wrong programs passed: 95 % interval 0.00 to 79.35 %\n"
        "1 of 2 honest programs failed: 95 % interval 9.45 to 90.55 %\n"
        "1 of 3 exploits forged a pass: 95 % interval 6.15 to 79.23 %");
}

TEST_CASE("a report as JSON has every row, the totals and the programs", "[cli][grader]") {
  const auto object = nlohmann::json::parse(grader_json(some_certificate()));
  CHECK(object["ok"] == false);
  CHECK(object["seed"] == 4);
  CHECK(object["exploits"].size() == 2);
  CHECK(object["total"]["exploit"]["bad"] == 1);
  CHECK(object["total"]["honest"]["interval"][1].get<double>() < 0.91);
  CHECK(object["findings"][0]["program"] == "print(1)\n");
  CHECK(object["findings"][1]["reason"] == "exit code 3: Key\x1b[2J");
}

TEST_CASE("a list has each exploit with what it does", "[cli][grader]") {
  CHECK(grader_list(grader_corpus()).find("\n  exit_zero                 ends with exit code 0") !=
        std::string::npos);
  const auto object = nlohmann::json::parse(grader_list_json(grader_corpus()));
  CHECK(object["exploits"].size() == grader_corpus().exploits.size());
}

}  // namespace cli
