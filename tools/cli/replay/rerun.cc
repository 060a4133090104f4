#include "tools/cli/replay/rerun.h"

#include <poll.h>

#include <array>
#include <utility>

namespace cli {
namespace {

constexpr size_t kAheadOfWorkers = 2;  // it never waits for us, and few jobs are copied
constexpr unsigned kAttempts = 3;      // of a run that zygo itself failed

std::string obstacle_here(const runtime::Verdict& verdict) {
  std::string text = "it cannot be run here: " + verdict.label();
  for (const auto& [name, value] : verdict.detail) {
    const auto* message = name == "message" ? std::get_if<std::string>(&value) : nullptr;
    if (message) text += ": " + *message;
  }
  return text;
}

}  // namespace

void Rerun::submit(size_t index, unsigned attempt) {
  engine_.submit(recorded_[index].job, [inbox = inbox_, index, attempt](runtime::JobResult result) {
    inbox->put({index, attempt, std::move(result)});
  });
  ++under_way_;
}

// A run that says nothing of its program is none; other runs may show a difference all the same.
void Rerun::compare(size_t index, runtime::JobResult here) {
  Replayed& of = replayed_[index];
  if (!obstacle_of(here.verdict).empty()) {
    if (!is_trial_ && of.obstacle.empty()) of.obstacle = obstacle_here(here.verdict);
    return;
  }
  std::optional<runtime::JobResult>& first = firsts_[index];
  if (first && difference_of(*first, here)) of.chance = Replayed::Chance::kYes;
  if (is_trial_) return;
  if (of.runs++ == 0) of.label = here.verdict.label();
  std::optional<Difference> found = difference_of(recorded_[index].result, here);
  if (found) ++of.differ;
  if (found && !of.difference) of.difference = std::move(found);
  if (!first) first = std::move(here);
}

void Rerun::take(Arrival arrival) {
  --under_way_;
  const bool failed = arrival.result.verdict.outcome == runtime::Outcome::kSandboxError;
  if (failed && arrival.attempt < kAttempts) return submit(arrival.index, arrival.attempt + 1);
  compare(arrival.index, as_written(arrival.result));
}

bool Rerun::run_all(const std::vector<size_t>& order) {
  const size_t room = kAheadOfWorkers * engine_.workers();
  for (size_t next = 0; next < order.size() || under_way_ > 0;) {
    while (next < order.size() && under_way_ < room) submit(order[next++], 1);
    std::array<pollfd, 2> entries{{{inbox_->fd(), POLLIN, 0}, {stop_, POLLIN, 0}}};
    const int ready = ::poll(entries.data(), entries.size(), -1);
    if (ready > 0 && entries[1].revents != 0) {
      engine_.cancel_all();
      return false;
    }
    for (Arrival& arrival : inbox_->take_all()) take(std::move(arrival));
  }
  return true;
}

bool Rerun::run(unsigned runs) {
  firsts_.assign(recorded_.size(), std::nullopt);
  std::vector<size_t> order, again;
  for (size_t i = 0; i < recorded_.size(); ++i) {
    if (recorded_[i].obstacle.empty()) order.insert(order.end(), runs, i);
  }
  if (!run_all(order)) return false;
  for (size_t i = 0; i < recorded_.size(); ++i) {
    Replayed& of = replayed_[i];
    if (!of.difference || recorded_[i].fixed) {
      of.chance = Replayed::Chance::kUnknown;
    } else if (of.chance == Replayed::Chance::kUnknown) {
      of.chance = Replayed::Chance::kNo;
      if (runs == 1) again.push_back(i);
    }
  }
  is_trial_ = true;
  return run_all(again);
}

}  // namespace cli
