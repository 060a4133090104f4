#include "tools/cli/judge/jury.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

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
  limits.out = limits.err = sys::Bytes{static_cast<uint64_t>(problem.output_mib * 1048576)};
  return limits;
}

runtime::Verdict trouble(const std::string& message) {
  return {runtime::Outcome::kSandboxError, "", runtime::By::kSandbox, {{"message", message}}};
}

TestVerdict verdict_of(const std::string& name, JobResult result) {
  TestVerdict made{name, Word::kJE, result.verdict, {}, result.err.bytes, result.usage};
  if (result.tests.size() == 1 && !result.tests[0].skipped) {
    runtime::TestResult& test = result.tests[0];
    made.verdict = std::move(test.verdict);
    made.exception = std::move(test.exception);
    made.err = std::move(test.err.bytes);
    made.usage = test.usage;
  }
  made.word = word_of(made.verdict);
  return made;
}

// The first failure decides, except that a judge in trouble has nothing to say at all.
void conclude(Judged& judged) {
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

}  // namespace

// Where the engine leaves results; shared with its callbacks, which may outlive our wait.
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
  sys::Result<runtime::TestCase> loaded = load_test(folder_, package_, test);
  if (!loaded) {
    JobResult failed;
    failed.verdict = trouble(loaded.error().text());
    return inbox->put(index, std::move(failed));
  }
  runtime::Job job;
  job.id = program.path;
  job.template_name = program.template_name;
  job.source = program.source;
  job.files = program.files;
  job.limits = limits;
  (package_.settings.interactive ? job.interactor : job.checker) = checker_;
  job.tests.push_back(std::move(loaded).value());
  engine_.submit(std::move(job),
                 [inbox, index](JobResult result) { inbox->put(index, std::move(result)); });
}

Judged Jury::judge(const SourceProgram& program, sys::Milliseconds time_limit, Tests tests,
                   const OnTest& on_test) {
  const auto inbox = std::make_shared<Inbox>();
  const runtime::Limits limits = limits_of(package_.settings.limits, time_limit);
  // A conversation takes two.
  const unsigned cells = engine_.workers() / (package_.settings.interactive ? 2 : 1);
  const size_t room = tests == Tests::kAll ? std::max(1u, cells) : 1;
  std::map<size_t, TestVerdict> ended;
  size_t next = 0, open = 0;
  bool enough = false;
  while (open > 0 || (!enough && next < package_.tests.size())) {
    for (; !enough && open < room && next < package_.tests.size(); ++next, ++open)
      submit(program, package_.tests[next], next, limits, inbox);
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
    enough |= for_all || (tests == Tests::kUntilFailure && verdict.word != Word::kAC);
    if (on_test) on_test(program, verdict, ended.size() + 1);
    ended.emplace(index, std::move(verdict));
  }
  Judged judged{program.path, program.template_name, Word::kAC, {}, 0, 0, {}};
  for (auto& [index, verdict] : ended) judged.tests.push_back(std::move(verdict));
  if (stopped_) judged.word = Word::kJE;
  conclude(judged);
  return judged;
}

Judged not_judged(const std::string& path, const sys::Error& error) {
  Judged judged{path, "", Word::kJE, size_t{0}, 0, 0, {}};
  judged.tests.push_back({"", Word::kJE, trouble(error.text()), {}, "", {}});
  return judged;
}

}  // namespace cli
