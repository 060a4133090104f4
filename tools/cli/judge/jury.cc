#include "tools/cli/judge/jury.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <memory>
#include <mutex>

#include "tools/cli/judge/passes.h"
#include "tools/cli/judge/validation.h"

namespace cli {
namespace {

using runtime::JobResult;

// A program that sleeps is ended by the clock; one that waits for a busy core should not be.
constexpr sys::Milliseconds kWallGrace{2000};

runtime::Limits limits_of(const ProblemLimits& problem, sys::Milliseconds time_limit) {
  runtime::Limits limits;
  limits.cpu = time_limit;
  limits.wall = 2 * time_limit + kWallGrace;
  limits.memory = sys::Bytes{static_cast<uint64_t>(problem.memory_mib * 1048576)};
  limits.stack = limits.memory;  // as the tools of the packages have it
  limits.out = limits.err = sys::Bytes{static_cast<uint64_t>(problem.output_mib * 1048576)};
  return limits;
}

runtime::Verdict trouble(const std::string& message) {
  return {runtime::Outcome::kSandboxError, "", runtime::By::kSandbox, {{"message", message}}};
}

TestVerdict verdict_of(const std::string& name, JobResult result) {
  TestVerdict made{name, Word::kJE, result.verdict, {}, result.err.bytes, result.usage, {}};
  if (result.tests.size() == 1 && !result.tests[0].skipped) {
    runtime::TestResult& test = result.tests[0];
    made.verdict = std::move(test.verdict);
    made.exception = std::move(test.exception);
    made.err = std::move(test.err.bytes);
    made.usage = test.usage;
    made.given = test.given;
  }
  made.word = word_of(made.verdict);
  return made;
}

// The first failure decides, except that a judge in trouble has nothing to say at all.
void conclude_by_first(Judged& judged) {
  for (size_t i = 0; i < judged.tests.size(); ++i) {
    const TestVerdict& test = judged.tests[i];
    judged.slowest_cpu_us = std::max(judged.slowest_cpu_us, test.usage.cpu_us);
    judged.memory_peak_bytes = std::max(judged.memory_peak_bytes, test.usage.memory_peak_bytes);
    if (test.word == Word::kAC) continue;
    const bool first_trouble = test.word == Word::kJE && judged.word != Word::kJE;
    if (!judged.decisive || first_trouble) {
      judged.decisive = i;
      judged.word = test.word;
    }
  }
}

TestScores scores_of(const std::map<size_t, TestVerdict>& ended, size_t count) {
  TestScores scores(count);
  for (const auto& [index, verdict] : ended) {
    scores[index] = {verdict.word, verdict.given.score, verdict.given.multiplier};
  }
  return scores;
}

bool has_best(double score, const ScoreRange& range, bool less_is_better) {
  constexpr double kNear = 1e-9;
  const double best = less_is_better ? range.least : range.most;
  return std::isfinite(best) && std::abs(score - best) <= kNear * std::max(1.0, std::abs(best));
}

}  // namespace

// The engine leaves results here; shared with its callbacks, which may outlive our wait.
struct Jury::Inbox {
  using Arrived = std::pair<size_t, JobResult>;

  void put(size_t index, JobResult result) {
    std::lock_guard lock(mutex);
    results.emplace_back(index, std::move(result));
    const uint64_t one = 1;
    [[maybe_unused]] ssize_t n = ::write(bell.get(), &one, sizeof one);
  }

  // Waits for one; nothing when `stop` comes first.
  std::optional<Arrived> take(int stop) {
    std::array<pollfd, 2> entries{{{bell.get(), POLLIN, 0}, {stop, POLLIN, 0}}};
    while (::poll(entries.data(), entries.size(), -1) < 0 && errno == EINTR) {
    }
    if (entries[1].revents != 0 || entries[0].revents == 0) return std::nullopt;
    uint64_t one = 0;
    [[maybe_unused]] ssize_t n = ::read(bell.get(), &one, sizeof one);
    std::lock_guard lock(mutex);
    Arrived arrived = std::move(results.front());
    results.pop_front();
    return arrived;
  }

  sys::OwnedFd bell{::eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE)};
  std::mutex mutex;
  std::deque<Arrived> results;
};

// Tests are read when their turn comes: a package may be larger than the memory.
void Jury::submit(const SourceProgram& program, const PackageTest& test, size_t index,
                  const runtime::Limits& limits, const std::shared_ptr<Inbox>& inbox) {
  auto refuse = [&inbox, index](const sys::Error& error) {
    JobResult failed;
    failed.verdict = trouble(error.text());
    inbox->put(index, std::move(failed));
  };
  sys::Result<runtime::TestCase> loaded = load_test(folder_, package_, test);
  if (!loaded) return refuse(loaded.error());
  auto files = load_files(folder_, test);
  if (!files) return refuse(files.error());
  loaded->files = std::move(files).value();
  runtime::Job job;
  job.id = program.path;
  job.template_name = program.template_name;
  job.source = program.source;
  job.files = program.files;
  job.sources = program.sources;
  job.limits = limits;
  (package_.settings.interactive ? job.interactor : job.checker) = checker_;
  job.tests.push_back(std::move(loaded).value());
  auto put = [inbox, index](JobResult result) { inbox->put(index, std::move(result)); };
  const unsigned passes = package_.settings.passes;
  if (passes > 1) return Passes::start(engine_, std::move(job), passes, std::move(put));
  engine_.submit(std::move(job), std::move(put));
}

Judged Jury::judge(const SourceProgram& program, sys::Milliseconds time_limit, Tests tests,
                   const OnTest& on_test) {
  const auto inbox = std::make_shared<Inbox>();
  const runtime::Limits limits = limits_of(package_.settings.limits, time_limit);
  // A conversation takes two.
  const unsigned cells = engine_.workers() / (package_.settings.interactive ? 2 : 1);
  const size_t room = tests == Tests::kAll ? std::max(1u, cells) : 1;
  std::map<size_t, TestVerdict> ended;
  size_t following = 0, open = 0;
  bool enough = false;
  const bool by_groups = follows_groups(tests);
  auto next = [&]() -> std::optional<size_t> {
    if (by_groups) return next_test(package_.groups, scores_of(ended, package_.tests.size()));
    return following < package_.tests.size() ? std::optional(following++) : std::nullopt;
  };
  for (;;) {
    while (!enough && open < room) {
      const std::optional<size_t> index = next();
      if (!index) break;
      submit(program, package_.tests[*index], *index, limits, inbox);
      ++open;
    }
    if (open == 0) break;
    std::optional<Inbox::Arrived> arrived = inbox->take(stop_);
    if (!arrived) {
      engine_.cancel_all();
      stopped_ = true;
      break;
    }
    --open;
    const size_t index = arrived->first;
    TestVerdict verdict = verdict_of(package_.tests[index].name, std::move(arrived->second));
    // A program that cannot be compiled, and a judge in trouble, are so for every test.
    const bool for_all = verdict.word == Word::kCE || verdict.word == Word::kJE;
    const bool stops = tests == Tests::kUntilFailure && !by_groups;
    enough |= for_all || (stops && verdict.word != Word::kAC);
    if (on_test) on_test(program, verdict, ended.size() + 1);
    ended.emplace(index, std::move(verdict));
  }
  Judged judged;
  judged.path = program.path;
  judged.language = program.template_name;
  judged.word = stopped_ ? Word::kJE : Word::kAC;
  conclude(ended, judged);
  return judged;
}

// The next test depends on how the last one ended.
bool Jury::follows_groups(Tests tests) const {
  return !package_.groups.empty() && tests == Tests::kUntilFailure;
}

void Jury::conclude(const std::map<size_t, TestVerdict>& ended, Judged& judged) const {
  for (const auto& [index, verdict] : ended) judged.tests.push_back(verdict);
  conclude_by_first(judged);
  const bool is_graded = judged.word != Word::kJE && judged.word != Word::kCE;
  if (package_.groups.empty() || !is_graded) return;
  const Graded graded = grade(package_.groups, scores_of(ended, package_.tests.size()));
  const bool always_scores = package_.groups.front().scoring.has_value();
  if (always_scores) judged.first_word = judged.word;
  judged.word = graded.word;
  judged.groups = graded.groups;
  judged.decisive.reset();
  if (!graded.complaint.empty()) {
    judged.complaint = graded.complaint;
    if (graded.decisive)
      judged.complaint = "data/" + package_.tests[*graded.decisive].name + ": " + graded.complaint;
    return;
  }
  if (graded.decisive) {
    const auto at = std::distance(ended.begin(), ended.find(*graded.decisive));
    judged.decisive = static_cast<size_t>(at);
  }
  if (graded.word != Word::kAC && !always_scores) return;
  const ScoreRange& range = package_.groups.front().grading.range;
  const double best = package_.settings.less_is_better ? range.least : range.most;
  judged.score = graded.score;
  judged.has_best_score = has_best(graded.score, range, package_.settings.less_is_better);
  const bool is_less = judged.word == Word::kAC && !judged.has_best_score;
  if (is_less && std::isfinite(best)) judged.word = Word::kPAC;
}

Judged not_judged(const std::string& path, const sys::Error& error) {
  Judged judged;
  judged.path = path;
  judged.decisive = 0;
  judged.tests.push_back({"", Word::kJE, trouble(error.text()), {}, "", {}, {}});
  return judged;
}

}  // namespace cli
