#include "runtime/judging/suite_verdicts.h"

#include <signal.h>

#include <catch2/catch.hpp>

namespace runtime {
namespace {

JobResult exits(int code) {
  JobResult result;
  result.exit = ExitStatus{false, code};
  result.verdict = {code == 0 ? Outcome::kOk : Outcome::kNonZeroExit, "", By::kProgram, {}};
  result.err.bytes = "because\nof this";
  return result;
}
JobResult dies(int signal) {
  JobResult result;
  result.exit = ExitStatus{true, signal};
  result.verdict = {Outcome::kSignalled, "", By::kProgram, {}};
  return result;
}
JobResult ends(Outcome outcome, By by) {
  JobResult result;
  result.verdict = {outcome, "", by, {}};
  return result;
}

std::string label_by(const Checker& checker, const JobResult& judged) {
  return judged_by(checker, "checker", judged, exits(0).verdict).label();
}

TEST_CASE("a checker speaks by its exit code", "[suite]") {
  Checker testlib;
  CHECK(label_by(testlib, exits(0)) == "OK");
  CHECK(label_by(testlib, exits(1)) == "WrongAnswer");
  CHECK(label_by(testlib, exits(2)) == "WrongAnswer");
  CHECK(label_by(testlib, exits(3)) == "BadJob");
  CHECK(label_by(testlib, dies(SIGSEGV)) == "BadJob");
  CHECK(label_by(testlib, ends(Outcome::kTimeout, By::kLimit)) == "BadJob");
  CHECK(label_by(testlib, ends(Outcome::kSandboxError, By::kSandbox)) == "SandboxError");
  Checker icpc;
  icpc.protocol = Checker::Protocol::kIcpc;
  CHECK(label_by(icpc, exits(42)) == "OK");
  CHECK(label_by(icpc, exits(43)) == "WrongAnswer");
  CHECK(label_by(icpc, exits(0)) == "BadJob");
  CHECK(label_by(icpc, exits(1)) == "BadJob");
}

TEST_CASE("points of testlib are a score where one is wanted, and told where none is", "[suite]") {
  JobResult points = exits(7);
  points.err.bytes = "points 0.5 half of it";
  Checker scores, testlib;
  scores.protocol = Checker::Protocol::kIcpc;
  scores.scores = true;
  auto message = [](const Verdict& verdict) {
    return std::get<std::string>(verdict.detail.front().second);
  };

  CHECK(label_by(scores, points) == "OK");
  CHECK(score_by(scores, points)->score == 0.5);
  CHECK(label_by(scores, exits(7)) == "BadJob");
  CHECK_FALSE(score_by(scores, exits(7))->score);
  const Verdict none = judged_by(testlib, "checker", points, exits(0).verdict);
  CHECK(none.label() == "BadJob");
  CHECK(message(none).find("exit code 7, partial points of testlib") != std::string::npos);
  CHECK_FALSE(score_by(testlib, points)->score);
}

TEST_CASE("scores are read from the files of an ICPC checker", "[suite]") {
  Checker judge;
  judge.protocol = Checker::Protocol::kIcpc;
  judge.scores = true;
  auto given = [&judge](const char* path, const char* text) {
    JobResult judged = exits(42);
    judged.files.files = {{path, text, false}};
    return score_by(judge, judged);
  };

  CHECK(given(kJudgeScore, " 2.5\n")->score == 2.5);
  CHECK(given(kJudgeMultiplier, "0.25")->multiplier == 0.25);
  CHECK(given(kJudgeMultiplier, "").error().text() == "score_multiplier.txt: expected a number");
  judge.scores = false;
  CHECK(*given(kJudgeScore, "many") == JudgeScore());
}

TEST_CASE("a score is one decimal number", "[suite]") {
  CHECK(parse_score("12.5\n") == 12.5);
  CHECK(parse_score(" +3 ") == 3);
  CHECK(parse_score("-1e2") == -100);
  for (const char* text : {"", "\n", "a", "1 2", "nan", "inf", "+-1", "1e300", "0x10", "1,5"}) {
    INFO(text);
    CHECK_FALSE(parse_score(text));
  }
  CHECK_FALSE(parse_score(std::string(100, '1')));
}

TEST_CASE("what a checker says is told by its first line", "[suite]") {
  const Verdict verdict = judged_by({}, "checker", exits(1), exits(0).verdict);
  CHECK(verdict.detail.front() == std::pair<std::string, DetailValue>{"checker", "because"});
}

TEST_CASE("what was withdrawn while it was judged has no judgement, bad or good", "[suite]") {
  const JobResult withdrawn = ends(Outcome::kCancelled, By::kCaller);
  CHECK(label_by({}, withdrawn) == "Cancelled");
  for (const JobResult& program : {exits(0), exits(1), dies(SIGPIPE)})
    CHECK(judged_by_interactor({}, withdrawn, program, false).label() == "Cancelled");
}

std::string after(const JobResult& interactor, const JobResult& program) {
  return judged_by_interactor({}, interactor, program, false).label();
}

TEST_CASE("of a conversation, limits and breaches of the program come first", "[suite]") {
  CHECK(after(exits(1), ends(Outcome::kTimeout, By::kLimit)) == "TimeoutException");
  CHECK(after(exits(0), ends(Outcome::kUnsafeCode, By::kPolicy)) == "UnsafeCode");
  CHECK(after(exits(0), exits(3)) == "NonZeroExit");
  CHECK(after(exits(0), exits(0)) == "OK");
}

TEST_CASE("of a conversation, who failed first has failed", "[suite]") {
  CHECK(judged_by_interactor({}, exits(1), exits(3), true).label() == "NonZeroExit");
  CHECK(judged_by_interactor({}, exits(1), exits(3), false).label() == "WrongAnswer");
}

TEST_CASE("who lost the other side to our trouble is not blamed for what followed", "[suite]") {
  const JobResult lost = ends(Outcome::kSandboxError, By::kSandbox);
  CHECK(after(lost, exits(3)) == "SandboxError");
  CHECK(after(lost, exits(0)) == "SandboxError");
  CHECK(after(lost, ends(Outcome::kTimeout, By::kLimit)) == "SandboxError");
  CHECK(after(lost, ends(Outcome::kUnsafeCode, By::kPolicy)) == "UnsafeCode");
  CHECK(after(lost, ends(Outcome::kCompilationError, By::kProgram)) == "CompilationError");
  CHECK(judged_by_interactor({}, lost, exits(3), true).label() == "NonZeroExit");
}

TEST_CASE("who writes to one that has left is not blamed for it", "[suite]") {
  CHECK(after(exits(0), dies(SIGPIPE)) == "OK");
  CHECK(after(exits(1), dies(SIGPIPE)) == "WrongAnswer");
  CHECK(after(dies(SIGPIPE), exits(0)) == "WrongAnswer");
  CHECK(after(dies(SIGSEGV), exits(0)) == "BadJob");
  CHECK(after(dies(SIGSEGV), dies(SIGSEGV)) == "Signalled");
}

}  // namespace
}  // namespace runtime
