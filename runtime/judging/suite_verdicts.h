#pragma once
// Verdicts that the end of a checker or an interactor gives the program that it looked at. Pure.

#include <optional>
#include <string_view>

#include "runtime/job/job.h"
#include "runtime/job/result.h"
#include "sandbox/sys/result.h"

namespace runtime {

// Files of the protocol kIcpc.
inline constexpr const char* kJudgeMessage = "feedback/judgemessage.txt";
inline constexpr const char* kJudgeScore = "feedback/score.txt";
inline constexpr const char* kJudgeMultiplier = "feedback/score_multiplier.txt";
inline constexpr const char* kJudgeKeep = "feedback/.keep";  // so that the folder is there

Verdict wrong_answer(Detail detail);
// The caller's own mistake, by `role`: "checker: score.txt: expected a number".
Verdict broken_judge(const char* role, const std::string& why);

// `ran` is the program's own verdict, which stands where the judge has no objection. `role` names
// the judge in messages.
Verdict judged_by(const Checker& judge, const char* role, const JobResult& judged,
                  const Verdict& ran);

// The same of a conversation, where either side may have ended the other.
Verdict judged_by_interactor(const Checker& judge, const JobResult& interactor,
                             const JobResult& program, bool program_left_first);

// The score that the judge gives, where scores are wanted: by its files for that, or as the points
// that testlib ended with (exit code 7). The error says where it is no number.
sys::Result<JudgeScore> score_by(const Checker& judge, const JobResult& judged);

// One decimal number between white space, of at most 1e15; nothing where it is not.
std::optional<double> parse_score(std::string_view text);

}  // namespace runtime
