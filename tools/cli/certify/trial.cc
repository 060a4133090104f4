#include "tools/cli/certify/trial.h"

#include <poll.h>

#include <array>
#include <cerrno>
#include <utility>

#include "tools/cli/certify/certify.h"
#include "tools/cli/text.h"

namespace cli {
namespace {

// So many jobs for a worker are with the engine: it never waits for us, and few are copied.
constexpr size_t kAheadOfWorkers = 2;

const char* word_of(Likeness likeness) {
  switch (likeness) {
    case Likeness::kAsLabelled:
      return "as labelled";
    case Likeness::kOtherSide:
      return "band";
    case Likeness::kFlip:
      break;
  }
  return "flips";
}

}  // namespace

void Trial::submit(size_t index, unsigned attempt) {
  engine_.submit(corpus_[index].job, [inbox = inbox_, index, attempt](runtime::JobResult result) {
    inbox->put({index, attempt, std::move(result)});
  });
  ++under_way_;
}

void Trial::take(const Arrival& arrival, Scorer& scorer) {
  --under_way_;
  switch (next_for(arrival.result, kills_, arrival.attempt)) {
    case Next::kScore:
      break;
    case Next::kAgain:
      scorer.add_lost();
      return submit(arrival.index, arrival.attempt + 1);
    case Next::kAtTheEnd:
      scorer.add_lost();
      return for_the_end_.push_back(arrival.index);
  }
  const Likeness likeness = scorer.add(corpus_[arrival.index], arrival.result);
  tally_.add(word_of(likeness), Tally::Kind::kVerdict);
  if (likeness != Likeness::kFlip || !progress_.period()) return;
  progress_.clear();
  write_error_line("zygo certify: " + flip_line(scorer.flips().back()));
}

bool Trial::run_all(const std::vector<size_t>& order, Scorer& scorer) {
  const size_t room = kAheadOfWorkers * engine_.workers();
  const auto period = progress_.period();
  const int patience = period ? static_cast<int>(period->count()) : -1;
  for (size_t next = 0; next < order.size() || under_way_ > 0;) {
    while (next < order.size() && under_way_ < room) submit(order[next++], 1);
    std::array<pollfd, 2> entries{{{inbox_->fd(), POLLIN, 0}, {stop_, POLLIN, 0}}};
    const int ready = ::poll(entries.data(), entries.size(), patience);
    if (ready > 0 && entries[1].revents != 0) {
      engine_.cancel_all();
      return false;
    }
    for (const Arrival& arrival : inbox_->take_all()) take(arrival, scorer);
    progress_.tick(sys::monotonic_now(), tally_);
  }
  return true;
}

bool Trial::run(const std::vector<size_t>& order, Scorer& scorer,
                const std::function<void()>& end_kills) {
  inbox_ = std::make_shared<Inbox>();
  const sys::Nanoseconds began = sys::monotonic_now();
  kills_ = end_kills != nullptr;
  bool done = run_all(order, scorer);
  if (end_kills) end_kills();
  kills_ = false;
  if (done) done = run_all(std::exchange(for_the_end_, {}), scorer);
  progress_.clear();
  const auto taken = sys::monotonic_now() - began;
  scorer.row().seconds = std::chrono::duration<double>(taken).count();
  return done;
}

}  // namespace cli
