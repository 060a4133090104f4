#include "runtime/suite.h"

#include <algorithm>

#include "runtime/value.h"

namespace runtime {

namespace {

constexpr size_t kOutputKept = 4096;  // of each stream of each test
constexpr int kTestlibOk = 0, kTestlibWrong = 1, kTestlibPresentation = 2;
constexpr int kIcpcOk = 42, kIcpcWrong = 43;

void cut(Output& output) {
  if (output.bytes.size() <= kOutputKept) return;
  output.bytes.resize(kOutputKept);
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

Verdict wrong_answer(Detail detail) {
  return {Outcome::kWrongAnswer, "", By::kProgram, std::move(detail)};
}

Verdict verdict_on(const TestCase& test, const JobResult& result, bool calls) {
  const std::string got = calls ? value_text(result) : result.out.bytes;
  auto mismatch = compare(test.comparator, test.tolerance, *test.expect, got);
  if (!mismatch) return result.verdict;
  return wrong_answer(
      {{"where", mismatch->where}, {"expected", mismatch->expected}, {"got", mismatch->got}});
}

// What the checker's own end says about the program.
Verdict verdict_of(const Checker& checker, const JobResult& checked, const Verdict& ran) {
  const bool icpc = checker.protocol == Checker::Protocol::kIcpc;
  const int code = checked.exit && !checked.exit->signalled ? checked.exit->code : -1;
  if (code == (icpc ? kIcpcOk : kTestlibOk) && (icpc || checked.verdict.ok())) return ran;
  const bool wrong =
      icpc ? code == kIcpcWrong : code == kTestlibWrong || code == kTestlibPresentation;
  std::string words = checked.err.bytes.substr(0, checked.err.bytes.find('\n'));
  words.resize(std::min<size_t>(words.size(), 300));
  const bool judged = wrong && checked.verdict.outcome == Outcome::kNonZeroExit;
  if (judged) return wrong_answer({{"checker", words}, {"code", int64_t{code}}});
  if (checked.verdict.by == By::kSandbox) return checked.verdict;
  return {Outcome::kBadJob,
          "",
          By::kCaller,
          {{"message", "checker: ended as " + checked.verdict.label() + ", which is no judgement"},
           {"checker", words}}};
}

}  // namespace

Suite::Suite(Job job, Submit submit, Done done)
    : job_(std::move(job)), submit_(std::move(submit)), done_(std::move(done)) {
  results_.resize(job_.tests.size());
  for (size_t i = 0; i < results_.size(); ++i) {
    results_[i].name = job_.tests[i].name;
    results_[i].skipped = true;
  }
}

void Suite::start(Job job, unsigned at_once, Submit submit, Done done) {
  const bool in_order = job.stop_at_failure;
  std::shared_ptr<Suite> suite(new Suite(std::move(job), std::move(submit), std::move(done)));
  suite->room_ = in_order ? 1 : std::max(1u, at_once);
  suite->launch();
}

// A callback may come before submit() returns, so the lock is not held over it.
void Suite::launch() {
  std::unique_lock lock(mutex_);
  while (!stopped_ && next_ < job_.tests.size() && open_ < room_) {
    const size_t index = next_++;
    ++open_;
    lock.unlock();
    submit_(job_of(job_.tests[index]), [self = shared_from_this(), index](JobResult result) {
      self->on_run(index, std::move(result));
    });
    lock.lock();
  }
}

Job Suite::job_of(const TestCase& test) const {
  Job job;
  job.id = job_.id;
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
  job.limits = job_.limits;
  job.policy = job_.policy;
  job.determinism_runs = job_.determinism_runs;
  job.priority = job_.priority;
  job.deadline = job_.deadline;
  return job;
}

Job Suite::checker_job(const TestCase& test, const std::string& output) const {
  const Checker& checker = *job_.checker;
  const bool icpc = checker.protocol == Checker::Protocol::kIcpc;
  Job job;
  job.id = job_.id;
  job.template_name = checker.template_name;
  job.source = checker.source;
  job.files = checker.files;
  const std::vector<std::pair<const char*, const std::string*>> texts = {
      {"input.txt", &test.stdin_bytes}, {"output.txt", &output}, {"answer.txt", &*test.expect}};
  for (const auto& [path, text] : texts) job.run_files.push_back({path, *text, false});
  if (icpc) {
    job.run_files.push_back({"feedback/.keep", "", false});
    job.argv = {"input.txt", "answer.txt", "feedback/"};
    job.stdin_bytes = output;
  } else {
    job.argv = {"input.txt", "output.txt", "answer.txt"};
  }
  job.argv.insert(job.argv.end(), checker.argv.begin(), checker.argv.end());
  job.policy.require = job_.policy.require;
  job.priority = job_.priority;
  return job;
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
  submit_(std::move(job), [self = shared_from_this(), index, ran](JobResult checked) {
    self->on_checked(index, std::move(*ran), std::move(checked));
  });
}

void Suite::on_checked(size_t index, JobResult result, JobResult checked) {
  result.verdict = verdict_of(*job_.checker, checked, result.verdict);
  record(index, std::move(result));
}

void Suite::record(size_t index, JobResult result) {
  {
    std::lock_guard lock(mutex_);
    --open_;
    TestResult& kept = results_[index];
    kept.skipped = false;
    kept.verdict = result.verdict;
    kept.exit = result.exit;
    kept.out = std::move(result.out);
    kept.err = std::move(result.err);
    cut(kept.out);
    cut(kept.err);
    kept.exception = std::move(result.exception);
    kept.usage = result.usage;
    result.out = result.err = {};
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
    if (!result.verdict.ok() || test.verdict.ok()) continue;
    result.verdict = test.verdict;  // the first in their order
    result.verdict.detail.insert(result.verdict.detail.begin(), {"test", test.name});
  }
  result.tests = std::move(results_);
  return result;
}

}  // namespace runtime
