#include "runtime/judging/suite_verdicts.h"

#include <signal.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace runtime {
namespace {

constexpr int kTestlibOk = 0, kTestlibWrong = 1, kTestlibPresentation = 2;
constexpr int kIcpcOk = 42, kIcpcWrong = 43;
constexpr int kTestlibPoints = 7;  // of either protocol: testlib's "points NUMBER ..." on stderr
constexpr size_t kWords = 300;

enum class Word : uint8_t { kRight, kWrong, kNone };

// Nothing: it did not end by itself.
std::optional<int> code_of(const JobResult& judged) {
  const Outcome outcome = judged.verdict.outcome;
  const bool ended = outcome == Outcome::kOk || outcome == Outcome::kNonZeroExit;
  if (!ended || !judged.exit || judged.exit->signalled) return std::nullopt;
  return judged.exit->code;
}

// The word that should be a number, where scores are wanted and the judge ended with points.
std::optional<std::string> points_of(const Checker& judge, const JobResult& judged) {
  constexpr std::string_view kPoints = "points ";
  const std::string_view said = judged.err.bytes;
  if (!judge.scores || code_of(judged) != kTestlibPoints || !said.starts_with(kPoints))
    return std::nullopt;
  const std::string_view rest = said.substr(kPoints.size());
  return std::string(rest.substr(0, rest.find_first_of(" \t\r\n")));
}

Word word_of(const Checker& judge, const JobResult& judged) {
  const std::optional<int> ended = code_of(judged);
  if (!ended) return Word::kNone;
  if (points_of(judge, judged)) return Word::kRight;
  const int code = *ended;
  if (judge.protocol == Checker::Protocol::kIcpc)
    return code == kIcpcOk ? Word::kRight : code == kIcpcWrong ? Word::kWrong : Word::kNone;
  if (code == kTestlibOk) return Word::kRight;
  return code == kTestlibWrong || code == kTestlibPresentation ? Word::kWrong : Word::kNone;
}

const InputFile* file_of(const JobResult& judged, std::string_view path) {
  const std::vector<InputFile>& files = judged.files.files;
  auto found = std::find_if(files.begin(), files.end(),
                            [path](const InputFile& file) { return file.path == path; });
  return found == files.end() ? nullptr : &*found;
}

// The judge's words about its judgement: one line, from the file where the protocol wants it, or
// from stderr; for a judge that never ran, the reason.
std::string first_words(const JobResult& judged) {
  const InputFile* file = file_of(judged, kJudgeMessage);
  const std::string& text = file ? file->content : judged.err.bytes;
  const std::string words = text.substr(0, std::min(text.find('\n'), kWords));
  if (!words.empty()) return words;
  for (const auto& [key, value] : judged.verdict.detail) {
    if (const auto* message = std::get_if<std::string>(&value); message && key == "message")
      return message->substr(0, kWords);
  }
  return "";
}

sys::Result<double> number_in(const char* where, std::string_view text) {
  const std::optional<double> number = parse_score(text);
  if (!number) return sys::Error::because(std::string(where) + ": expected a number");
  return *number;
}

bool was_cancelled(const JobResult& judged) {
  return judged.verdict.outcome == Outcome::kCancelled;
}

Verdict no_judgement(const char* role, const JobResult& judged) {
  if (judged.verdict.by == By::kSandbox || was_cancelled(judged)) return judged.verdict;
  const bool points = code_of(judged) == kTestlibPoints;
  const std::string what = points
                               ? "ended with exit code 7, partial points of testlib, which only "
                                 "problems with scores of the validator take"
                               : "ended as " + judged.verdict.label() + ", which is no judgement";
  return {Outcome::kBadJob,
          "",
          By::kCaller,
          {{"message", std::string(role) + ": " + what}, {role, first_words(judged)}}};
}

Verdict rejected(const char* role, const JobResult& judged) {
  return wrong_answer({{role, first_words(judged)}, {"code", int64_t{judged.exit->code}}});
}

// Its reader had ended.
bool met_a_closed_pipe(const JobResult& side) {
  const bool signalled = side.exit && side.exit->signalled && side.exit->code == SIGPIPE;
  return signalled || (side.exception && side.exception->type == "BrokenPipeError");
}

}  // namespace

Verdict wrong_answer(Detail detail) {
  return {Outcome::kWrongAnswer, "", By::kProgram, std::move(detail)};
}

Verdict broken_judge(const char* role, const std::string& why) {
  return {Outcome::kBadJob, "", By::kCaller, {{"message", std::string(role) + ": " + why}}};
}

sys::Result<JudgeScore> score_by(const Checker& judge, const JobResult& judged) {
  JudgeScore given;
  if (!judge.scores) return given;
  if (const auto points = points_of(judge, judged)) {
    given.score = TRY(number_in("points", *points));
    return given;
  }
  if (const InputFile* file = file_of(judged, kJudgeScore))
    given.score = TRY(number_in("score.txt", file->content));
  if (const InputFile* file = file_of(judged, kJudgeMultiplier))
    given.multiplier = TRY(number_in("score_multiplier.txt", file->content));
  return given;
}

std::optional<double> parse_score(std::string_view text) {
  constexpr size_t kLongest = 64;  // characters
  constexpr double kLargest = 1e15;
  constexpr std::string_view kAround = " \t\r\n\f\v";
  text.remove_prefix(std::min(text.find_first_not_of(kAround), text.size()));
  text = text.substr(0, text.find_last_not_of(kAround) + 1);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = problem == std::errc{} && end == text.data() + text.size();
  if (!whole || text.size() > kLongest || !(std::abs(number) <= kLargest)) return std::nullopt;
  return number;
}

Verdict judged_by(const Checker& judge, const char* role, const JobResult& judged,
                  const Verdict& ran) {
  switch (word_of(judge, judged)) {
    case Word::kRight:
      return ran;
    case Word::kWrong:
      return rejected(role, judged);
    case Word::kNone:
      break;
  }
  return no_judgement(role, judged);
}

Verdict judged_by_interactor(const Checker& judge, const JobResult& interactor,
                             const JobResult& program, bool program_left_first) {
  constexpr const char* kRole = "interactor";
  // Then the other side's end means nothing.
  if (was_cancelled(interactor)) return interactor.verdict;
  Verdict ran = program.verdict;
  const Word word = word_of(judge, interactor);
  // Our trouble with the other side came first, and the program never had its conversation.
  const bool may_be_spoiled = !ran.ok() && ran.outcome != Outcome::kCompilationError &&
                              (ran.by == By::kProgram || ran.by == By::kLimit);
  if (interactor.verdict.by == By::kSandbox && may_be_spoiled && !program_left_first)
    return interactor.verdict;
  // Ours, the caller's, a limit or a breach: nothing that the other side said changes it.
  if (ran.by != By::kProgram) {
    const bool both_waited = ran.outcome == Outcome::kTimeout && word == Word::kNone &&
                             interactor.verdict.outcome == Outcome::kTimeout;
    if (both_waited) ran.detail.emplace_back("reason", "deadlock: each waited for the other");
    return ran;
  }
  // A program that failed while the other still listened has failed by itself.
  const bool failed_first = !ran.ok() && !met_a_closed_pipe(program) && program_left_first;
  if (word == Word::kWrong) return failed_first ? ran : rejected(kRole, interactor);
  if (word == Word::kNone && ran.ok() && met_a_closed_pipe(interactor))
    return wrong_answer({{kRole, "the program left before the conversation was over"}});
  if (word == Word::kNone) return ran.ok() ? no_judgement(kRole, interactor) : ran;
  // It had heard enough and left while the program was still writing.
  if (met_a_closed_pipe(program)) return {Outcome::kOk, "", By::kProgram, {}};
  return ran;
}

}  // namespace runtime
