#include "tools/cli/judge/passes.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/judging/suite_verdicts.h"

namespace cli {
namespace {

using runtime::InputFile;
using runtime::JobResult;
using runtime::Outcome;
using runtime::TestResult;
using runtime::Verdict;

Verdict mistake(const std::string& what) { return runtime::broken_judge("validator", what); }

// By its exit code; a program that left a conversation early is wrong without one.
bool is_rejected(const Verdict& verdict) {
  return verdict.outcome == Outcome::kWrongAnswer &&
         std::any_of(verdict.detail.begin(), verdict.detail.end(),
                     [](const auto& entry) { return entry.first == "code"; });
}

}  // namespace

PassEnd end_of_pass(const Verdict& verdict, runtime::OutputFiles feedback, unsigned pass,
                    unsigned most) {
  PassEnd end{verdict, {}, {}};
  const bool rejected = is_rejected(verdict);
  if (!verdict.ok() && !rejected) return end;
  if (!feedback.refused.empty()) {
    const auto& refused = feedback.refused.front();
    end.verdict = mistake(fmt::format("{}: {}", refused.path, refused.why));
    return end;
  }
  for (InputFile& file : feedback.files) {
    if (file.path == kNextPass) {
      end.next = std::move(file.content);
    } else if (file.path != runtime::kJudgeKeep) {
      end.feedback.push_back(std::move(file));
    }
  }
  if (!end.next) return end;
  if (rejected) {
    end.verdict = mistake("wrote nextpass.in and ended with exit code 43");
  } else if (pass >= most) {
    end.verdict = mistake(fmt::format("wrote nextpass.in after pass {} of {}", pass, most));
  } else {
    return end;
  }
  end.next.reset();
  return end;
}

Passes::Passes(runtime::Engine& engine, runtime::Job job, unsigned most, Done done)
    : engine_(engine), job_(std::move(job)), most_(most), done_(std::move(done)) {
  (job_.interactor ? job_.interactor : job_.checker)->keeps_feedback = true;
}

void Passes::start(runtime::Engine& engine, runtime::Job job, unsigned most, Done done) {
  const std::shared_ptr<Passes> passes(new Passes(engine, std::move(job), most, std::move(done)));
  passes->run();
}

void Passes::run() {
  engine_.submit(
      job_, [self = shared_from_this()](JobResult result) { self->on_pass(std::move(result)); });
}

void Passes::on_pass(JobResult result) {
  if (result.tests.size() != 1 || result.tests[0].skipped) return conclude(std::move(result));
  TestResult& test = result.tests[0];
  highest_.cpu_us = std::max(highest_.cpu_us, test.usage.cpu_us);
  highest_.wall_us = std::max(highest_.wall_us, test.usage.wall_us);
  highest_.memory_peak_bytes = std::max(highest_.memory_peak_bytes, test.usage.memory_peak_bytes);
  highest_.pids_peak = std::max(highest_.pids_peak, test.usage.pids_peak);
  highest_.contended |= test.usage.contended;
  PassEnd end = end_of_pass(test.verdict, std::move(test.feedback), pass_, most_);
  if (end.next) {
    ++pass_;
    runtime::TestCase& next = job_.tests[0];
    next.stdin_bytes = *std::move(end.next);
    next.judge_files = std::move(end.feedback);
    return run();
  }
  test.verdict = std::move(end.verdict);
  conclude(std::move(result));
}

void Passes::conclude(JobResult result) {
  for (TestResult& test : result.tests) {
    test.usage = highest_;
    if (!test.verdict.ok() && pass_ > 1)
      test.verdict.detail.emplace_back("pass", static_cast<int64_t>(pass_));
  }
  done_(std::move(result));
}

}  // namespace cli
