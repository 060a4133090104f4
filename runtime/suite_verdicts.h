#pragma once
// What the end of a checker or of an interactor says about the program it looked at. Pure.

#include "runtime/job.h"
#include "runtime/result.h"

namespace runtime {

// Files of the protocol kIcpc.
inline constexpr const char* kJudgeMessage = "feedback/judgemessage.txt";
inline constexpr const char* kJudgeScore = "feedback/score.txt";

Verdict wrong_answer(Detail detail);

// `ran` is the program's own verdict, which stands where the judge has no objection. `role` names
// the judge in messages.
Verdict judged_by(const Checker& judge, const char* role, const JobResult& judged,
                  const Verdict& ran);

// The same of a conversation, where either side may have ended the other.
Verdict judged_by_interactor(const Checker& judge, const JobResult& interactor,
                             const JobResult& program, bool program_left_first);

// The judge's score, where scores are wanted: what its file for that holds, or the points that
// testlib ended with (exit code 7).
std::optional<std::string> score_by(const Checker& judge, const JobResult& judged);

}  // namespace runtime
