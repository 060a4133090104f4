// The runs that a test is made of, as jobs.

#include <algorithm>

#include "runtime/judging/suite.h"
#include "runtime/judging/suite_verdicts.h"

namespace runtime {

Job Suite::job_of(const TestCase& test) const {
  Job job;
  job.id = job_.id;
  job.tenant = job_.tenant;
  job.template_name = job_.template_name;
  job.source = job_.source;
  job.mode = job_.mode;
  job.func = job_.func;
  job.calls = test.calls;
  job.array = job_.array;
  job.argv = test.argv.empty() ? job_.argv : test.argv;
  job.env = job_.env;
  job.stdin_bytes = test.stdin_bytes;
  job.files = job_.files;
  job.sources = job_.sources;
  job.compiler_flags = job_.compiler_flags;
  job.run_files = test.files;
  job.limits = job_.limits;
  job.policy = job_.policy;
  job.determinism_runs = job_.determinism_runs;
  job.fixed = job_.fixed;
  job.priority = job_.priority;
  job.deadline = job_.deadline;
  job.watch = job_.watch;
  return job;
}

namespace {

// The files in which the protocol wants the judge's message, and its score.
std::vector<std::string> feedback_of(const Checker& judge) {
  if (judge.keeps_feedback) return {"feedback/**"};
  if (judge.scores) return {kJudgeMessage, kJudgeScore, kJudgeMultiplier};
  return {kJudgeMessage};
}

void add_text(Job& job, const char* path, const std::string& text) {
  job.run_files.push_back({path, text, false});
}

// Makes the parts of the job that a checker and an interactor have in common.
Job judge_job(const Job& judged, const Checker& judge, const TestCase& test) {
  Job job;
  job.id = judged.id;
  job.tenant = judged.tenant;
  job.template_name = judge.template_name;
  job.source = judge.source;
  job.files = judge.files;
  job.sources = judge.sources;
  job.compiler_flags = judge.compiler_flags;
  job.run_files = test.judge_files;
  job.limits = judge.limits;
  job.policy.require = judged.policy.require;
  job.priority = judged.priority;
  job.watch = judged.watch;
  add_text(job, "input.txt", test.stdin_bytes);
  add_text(job, "answer.txt", test.expect.value_or(""));
  if (judge.protocol == Checker::Protocol::kIcpc) {
    add_text(job, kJudgeKeep, "");
    job.argv = {"input.txt", "answer.txt", "feedback/"};
    job.outputs = feedback_of(judge);
  } else {
    job.argv = {"input.txt", "output.txt", "answer.txt"};
  }
  job.argv.insert(job.argv.end(), judge.argv.begin(), judge.argv.end());
  job.argv.insert(job.argv.end(), test.checker_argv.begin(), test.checker_argv.end());
  return job;
}

}  // namespace

Job Suite::checker_job(const TestCase& test, const std::string& output) const {
  Job job = judge_job(job_, *job_.checker, test);
  add_text(job, "output.txt", output);
  if (job_.checker->protocol == Checker::Protocol::kIcpc) job.stdin_bytes = output;
  return job;
}

// The interactor has a moment longer than the program, to say what it thinks of an end.
Job Suite::interactor_job(const TestCase& test) const {
  constexpr sys::Milliseconds kLonger{1000};
  Job job = judge_job(job_, *job_.interactor, test);
  job.limits.wall = job_.limits.wall + kLonger;
  job.limits.cpu = std::max(job.limits.cpu, job_.limits.cpu);
  return job;
}

}  // namespace runtime
