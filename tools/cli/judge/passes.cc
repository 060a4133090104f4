#include "tools/cli/judge/passes.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/suite_verdicts.h"

namespace cli {
namespace {

using runtime::InputFile;
using runtime::JobResult;
using runtime::Verdict;

constexpr size_t kErrKept = 4096;
constexpr const char* kKeep = "feedback/.keep";  // so that the folder is there

Verdict mistake(const std::string& what) {
  return {runtime::Outcome::kBadJob, "", runtime::By::kCaller, {{"message", "checker: " + what}}};
}

}  // namespace

PassEnd end_of_pass(const runtime::Checker& checker, JobResult checked, const Verdict& ran,
                    unsigned pass, unsigned most) {
  PassEnd end{judged_by(checker, "checker", checked, ran), {}, {}};
  const bool has_judged = end.verdict.ok() || end.verdict.outcome == runtime::Outcome::kWrongAnswer;
  if (!has_judged) return end;
  if (!checked.files.refused.empty()) {
    const auto& refused = checked.files.refused.front();
    end.verdict = mistake(fmt::format("{}: {}", refused.path, refused.why));
    return end;
  }
  for (InputFile& file : checked.files.files) {
    if (file.path == kNextPass) {
      end.next = std::move(file.content);
    } else if (file.path != kKeep) {
      end.feedback.push_back(std::move(file));
    }
  }
  if (!end.next) return end;
  if (!end.verdict.ok()) {
    end.verdict = mistake("wrote nextpass.in and ended with exit code 43");
  } else if (pass >= most) {
    end.verdict = mistake(fmt::format("wrote nextpass.in after pass {} of {}", pass, most));
  } else {
    return end;
  }
  end.next.reset();
  return end;
}

Passes::Passes(runtime::Engine& engine, runtime::Job job, runtime::Checker checker,
               runtime::TestCase test, unsigned most, Done done)
    : engine_(engine),
      job_(std::move(job)),
      checker_(std::move(checker)),
      test_(std::move(test)),
      most_(most),
      done_(std::move(done)) {}

void Passes::start(runtime::Engine& engine, runtime::Job job, runtime::Checker checker,
                   runtime::TestCase test, unsigned most, Done done) {
  const std::shared_ptr<Passes> passes(new Passes(engine, std::move(job), std::move(checker),
                                                  std::move(test), most, std::move(done)));
  passes->run();
}

void Passes::run() {
  runtime::Job job = job_;
  job.stdin_bytes = test_.stdin_bytes;
  job.run_files = test_.files;
  engine_.submit(std::move(job), [self = shared_from_this()](JobResult result) {
    self->on_run(std::move(result));
  });
}

void Passes::on_run(JobResult result) {
  highest_.cpu_us = std::max(highest_.cpu_us, result.usage.cpu_us);
  highest_.wall_us = std::max(highest_.wall_us, result.usage.wall_us);
  highest_.memory_peak_bytes = std::max(highest_.memory_peak_bytes, result.usage.memory_peak_bytes);
  highest_.pids_peak = std::max(highest_.pids_peak, result.usage.pids_peak);
  highest_.contended |= result.usage.contended;
  if (!result.verdict.ok()) return conclude(std::move(result));
  runtime::Job job = checker_job(result.out.bytes);
  auto ran = std::make_shared<JobResult>(std::move(result));
  engine_.submit(std::move(job), [self = shared_from_this(), ran](JobResult checked) {
    self->on_checked(std::move(*ran), std::move(checked));
  });
}

void Passes::on_checked(JobResult result, JobResult checked) {
  PassEnd end = end_of_pass(checker_, std::move(checked), result.verdict, pass_, most_);
  if (end.next) {
    ++pass_;
    test_.stdin_bytes = *std::move(end.next);
    feedback_ = std::move(end.feedback);
    return run();
  }
  result.verdict = std::move(end.verdict);
  conclude(std::move(result));
}

// As that of a suite, and with the feedback of earlier passes.
runtime::Job Passes::checker_job(const std::string& output) const {
  runtime::Job job;
  job.id = job_.id;
  job.template_name = checker_.template_name;
  job.source = checker_.source;
  job.files = checker_.files;
  job.sources = checker_.sources;
  job.limits = checker_.limits;
  job.stdin_bytes = output;
  job.run_files = feedback_;
  job.run_files.push_back({"input.txt", test_.stdin_bytes, false});
  job.run_files.push_back({"answer.txt", test_.expect.value_or(""), false});
  job.run_files.push_back({kKeep, "", false});
  job.outputs = {"feedback/**"};
  job.argv = {"input.txt", "answer.txt", "feedback/"};
  job.argv.insert(job.argv.end(), checker_.argv.begin(), checker_.argv.end());
  job.argv.insert(job.argv.end(), test_.checker_argv.begin(), test_.checker_argv.end());
  return job;
}

void Passes::conclude(JobResult result) {
  if (!result.verdict.ok() && pass_ > 1)
    result.verdict.detail.emplace_back("pass", static_cast<int64_t>(pass_));
  runtime::TestResult test;
  test.name = test_.name;
  test.verdict = result.verdict;
  test.exit = result.exit;
  test.exception = result.exception;
  test.err.bytes = result.err.bytes.substr(0, kErrKept);
  test.err.truncated = test.err.bytes.size() < result.err.bytes.size();
  test.usage = highest_;
  result.out = {};
  result.tests.push_back(std::move(test));
  done_(std::move(result));
}

}  // namespace cli
