#include "runtime/judging/suite.h"

#include <algorithm>

#include "runtime/judging/compare.h"
#include "runtime/judging/determinism.h"
#include "runtime/judging/suite_verdicts.h"
#include "runtime/values/value.h"

namespace runtime {

namespace {

constexpr size_t kOutputKept = 4096;  // of each stream of each test

// Takes the room for what does not fit from `spare`, as long as there is some.
void cut(Output& output, uint64_t& spare) {
  if (output.bytes.size() <= kOutputKept) return;
  const uint64_t more = std::min<uint64_t>(spare, output.bytes.size() - kOutputKept);
  spare -= more;
  if (kOutputKept + more == output.bytes.size()) return;
  output.bytes = output.bytes.substr(0, kOutputKept + more);  // gives back the rest
  output.truncated = true;
}

// The one value of a call, as JSON: without the list of results around it.
std::string value_text(const JobResult& result) {
  std::string text;
  append_json(result.value, result.array, text);
  return text.size() >= 2 ? text.substr(1, text.size() - 2) : text;
}

// Nothing that another test could change: the program cannot be made, or the job cannot be.
bool ends_all(const Verdict& verdict) {
  return verdict.outcome == Outcome::kCompilationError || verdict.outcome == Outcome::kBadJob ||
         verdict.outcome == Outcome::kCancelled;
}

bool has_judge(const Job& job) {
  return job.interactor || std::ranges::any_of(job.tests, [](const TestCase& test) {
           return test.comparator == Comparator::kChecker;
         });
}

// The same in the value format.
std::string_view only_value(const JobResult& result) {
  constexpr size_t kHead = 5;  // of the list: its tag and count
  return std::string_view(result.value).substr(std::min(kHead, result.value.size()));
}

std::optional<Mismatch> mismatch_of(const TestCase& test, const JobResult& result, bool calls) {
  if (test.comparator == Comparator::kValue)
    return compare_exact_values(*test.expect, only_value(result), result.array);
  const std::string got = calls ? value_text(result) : result.out.bytes;
  if (test.comparator == Comparator::kRules) return compare(test.rules, *test.expect, got);
  return compare(test.comparator, test.tolerance, *test.expect, got);
}

Verdict verdict_on(const TestCase& test, const JobResult& result, bool calls) {
  const std::optional<Mismatch> mismatch = mismatch_of(test, result, calls);
  if (!mismatch) return result.verdict;
  return wrong_answer(
      {{"where", mismatch->where}, {"expected", mismatch->expected}, {"got", mismatch->got}});
}

}  // namespace

Suite::Suite(Job job, Machine machine, Done done)
    : job_(std::move(job)), machine_(std::move(machine)), done_(std::move(done)) {
  spare_ = job_.tests_output.count;
  results_.resize(job_.tests.size());
  for (size_t i = 0; i < results_.size(); ++i) {
    results_[i].name = job_.tests[i].name;
    results_[i].skipped = true;
  }
}

void Suite::start(Job job, Machine machine, Done done) {
  const bool in_order = job.stop_at_failure, pairs = job.interactor.has_value();
  const unsigned cells = std::max(1u, machine.at_once / (pairs ? 2 : 1));
  const bool too_few = pairs && machine.at_once < 2;
  std::shared_ptr<Suite> suite(new Suite(std::move(job), std::move(machine), std::move(done)));
  suite->room_ = in_order ? 1 : cells;
  if (too_few) {
    JobResult refused;
    refused.verdict = {Outcome::kBadJob,
                       "",
                       By::kCaller,
                       {{"message", "interactor: a conversation needs two workers at once"}}};
    return suite->give_up(std::move(refused));
  }
  pairs ? suite->build_both() : suite->launch();
}

// A callback may come before the machine returns, so the lock is not held over it.
void Suite::launch() {
  std::unique_lock lock(mutex_);
  while (!stopped_ && next_ < job_.tests.size() && open_ < room_) {
    const size_t index = next_++;
    ++open_;
    lock.unlock();
    begin(index);
    lock.lock();
  }
}

void Suite::begin(size_t index) {
  if (job_.interactor) return converse(index);
  machine_.run(job_of(job_.tests[index]), [self = shared_from_this(), index](JobResult result) {
    self->on_run(index, std::move(result));
  });
}

void Suite::on_run(size_t index, JobResult result) {
  const TestCase& test = job_.tests[index];
  if (!result.verdict.ok() || !test.expect) return record(index, std::move(result));
  if (test.comparator != Comparator::kChecker) {
    result.verdict = verdict_on(test, result, job_.mode == shim::Mode::kCall);
    return record(index, std::move(result));
  }
  Job job = checker_job(test, result.out.bytes);
  auto ran = std::make_shared<JobResult>(std::move(result));
  machine_.run(std::move(job), [self = shared_from_this(), index, ran](JobResult checked) {
    self->on_checked(index, std::move(*ran), std::move(checked));
  });
}

void Suite::on_checked(size_t index, JobResult result, JobResult checked) {
  result.verdict = judged_by(*job_.checker, "checker", checked, result.verdict);
  record_judged(index, std::move(result), *job_.checker, "checker", std::move(checked));
}

void Suite::record_judged(size_t index, JobResult result, const Checker& judge, const char* role,
                          JobResult judged) {
  sys::Result<JudgeScore> given = JudgeScore();
  const bool is_judged = result.verdict.ok() || result.verdict.outcome == Outcome::kWrongAnswer;
  if (is_judged && job_.tests[index].scored) given = score_by(judge, judged);
  if (!given && result.verdict.ok()) result.verdict = broken_judge(role, given.error().text());
  Feedback feedback;
  if (judge.keeps_feedback) {
    feedback = {std::move(judged.files), std::exchange(judged.held, nullptr)};
    size_t bytes = 0;
    for (const InputFile& file : feedback.files.files) bytes += file.content.capacity();
    if (feedback.held) feedback.held->shrink_to(bytes);
  }
  record(index, std::move(result), given ? *given : JudgeScore(), std::move(feedback));
}

void Suite::record(size_t index, JobResult result, JudgeScore given, Feedback feedback) {
  {
    std::lock_guard lock(mutex_);
    --open_;
    TestResult& kept = results_[index];
    kept.skipped = false;
    kept.verdict = result.verdict;
    kept.exit = result.exit;
    kept.out = std::move(result.out);
    kept.err = std::move(result.err);
    cut(kept.out, spare_);
    cut(kept.err, spare_);
    kept.held = std::exchange(result.held, nullptr);
    if (kept.held) kept.held->shrink_to(kept.out.bytes.capacity() + kept.err.bytes.capacity());
    result.value = {};
    kept.exception = std::move(result.exception);
    kept.usage = result.usage;
    kept.given = given;
    kept.feedback = std::move(feedback.files);
    kept.feedback_held = std::move(feedback.held);
    result.out = result.err = {};
    if (result.determinism) add_not_fixed(result.determinism->not_fixed, not_fixed_);
    if (ends_all(kept.verdict) && !whole_) {
      kept.skipped = true;
      whole_ = result;
      whole_->err = std::move(kept.err);
      stopped_ = true;
    }
    if (job_.stop_at_failure && !kept.verdict.ok()) stopped_ = true;
    last_ = std::move(result);
    if (open_ > 0 || (!stopped_ && next_ < job_.tests.size())) {
      // More to come: below.
    } else {
      JobResult all = conclude();
      return done_(std::move(all));
    }
  }
  launch();
}

// All that was started has ended. Under the lock.
JobResult Suite::conclude() {
  JobResult result = whole_ ? std::move(*whole_) : std::move(last_);
  if (result.determinism && result.determinism->fixed) {
    if (has_judge(job_)) add_not_fixed({"judge"}, not_fixed_);
    result.determinism->not_fixed = std::move(not_fixed_);
  }
  result.id = job_.id;
  result.tag = job_.tag;
  result.value.clear();
  if (!whole_) {
    result.exit.reset();
    result.exception.reset();
    result.verdict = {Outcome::kOk, "", By::kProgram, {}};
    result.usage = {};
  }
  for (size_t i = 0; i < results_.size(); ++i) {
    const TestResult& test = results_[i];
    if (test.skipped || whole_) continue;
    Usage& sum = result.usage;
    sum.cpu_us += test.usage.cpu_us;
    sum.wall_us += test.usage.wall_us;
    sum.memory_peak_bytes = std::max(sum.memory_peak_bytes, test.usage.memory_peak_bytes);
    sum.pids_peak = std::max(sum.pids_peak, test.usage.pids_peak);
    sum.contended |= test.usage.contended;
    sum.reruns += test.usage.reruns;
    sum.rerun_cpu_us += test.usage.rerun_cpu_us;
    if (!result.verdict.ok() || test.verdict.ok()) continue;
    result.verdict = test.verdict;  // the first in their order
    result.verdict.detail.insert(result.verdict.detail.begin(), {"test", test.name});
  }
  result.tests = std::move(results_);
  return result;
}

}  // namespace runtime
