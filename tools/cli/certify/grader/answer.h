#pragma once
// What a grader answers: by its exit code, and maybe by JSON in the last line of its stdout. Pure.

#include <string>
#include <string_view>

namespace cli {

// kNone: neither; the grader was ended, ended itself otherwise, or could not say.
enum class Answer { kPassed, kFailed, kNone };
std::string_view name_of(Answer answer);

// How a run of the grader ended.
struct GraderEnd {
  int status = 0;  // exit code, or 128 + signal
  bool late = false, flooded = false;
  std::string out, err;  // their last bytes
};

struct Judgement {
  Answer answer = Answer::kNone;
  std::string reason;  // of kNone
};
// Exit code 0 is a pass and 1 a failure. With 0, a last line that is a JSON object with `passed`
// (true or false) or `score` (1 or more is a pass) decides.
Judgement judge_answer(const GraderEnd& end);

}  // namespace cli
