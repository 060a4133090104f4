#include "service/durable/ledger_writer.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace service {

using sys::Result;

namespace {

constexpr sys::Milliseconds kRetry{1000};  // what could not be written, and what could not be read

}  // namespace

int64_t system_now_ms() {
  return std::chrono::duration_cast<sys::Milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

LedgerWriter::LedgerWriter(runtime::Loop& loop, Deadlines& deadlines,
                           std::shared_ptr<Ledger> ledger, std::function<void()> rested)
    : loop_(loop), deadlines_(deadlines), ledger_(std::move(ledger)), rested_(std::move(rested)) {}

void LedgerWriter::accept(DurableRequest arrival, std::function<void(Result<Receipt>)> then) {
  arrivals_.push_back({.arrival = std::move(arrival), .then = std::move(then)});
  go();
}

void LedgerWriter::record(VerdictEntry verdict, std::function<void(const VerdictEntry&)> then) {
  unwritten_bytes_ += verdict.json.size();
  verdicts_.push_back({.verdict = std::move(verdict), .then = std::move(then)});
  go();
}

void LedgerWriter::read(std::function<void(Ledger&)> work, std::function<void()> then) {
  readings_.push_back({.work = std::move(work), .then = std::move(then)});
  go();
}

void LedgerWriter::change(SessionChange change, std::function<void(Made)> then) {
  alterations_.push_back({.change = std::move(change), .then = std::move(then)});
  go();
}

void LedgerWriter::tidy() {
  tidy_ = true;
  go();
}

bool LedgerWriter::busy() const {
  return under_way_ || !arrivals_.empty() || !verdicts_.empty() || !alterations_.empty() ||
         !readings_.empty();
}

void LedgerWriter::go() {
  if (under_way_) return;
  under_way_ = true;
  deadlines_.forget(std::exchange(retry_, 0));
  auto errand = std::make_shared<Errand>();
  errand->arrivals.swap(arrivals_);
  errand->verdicts.swap(verdicts_);
  errand->alterations.swap(alterations_);
  if (std::exchange(removes_, false)) errand->removals.swap(unremoved_);
  errand->readings.swap(readings_);
  errand->tidy = std::exchange(tidy_, false);
  verdicts_under_way_ = errand->verdicts.size();
  runtime::run_aside(
      loop_, [errand, ledger = ledger_] { errand->perform(*ledger); },
      [this, errand, here = std::weak_ptr<bool>(here_)] {
        if (!here.expired()) come_back(*errand);
      });
}

void LedgerWriter::Errand::perform(Ledger& ledger) {
  if (!arrivals.empty() || !verdicts.empty()) write(ledger);
  if (!alterations.empty()) alter(ledger);
  if (!removals.empty()) remove(ledger);
  for (Reading& reading : readings) reading.work(ledger);
  if (tidy || !verdicts.empty()) next_tidy = ledger.forget(system_now_ms());
}

void LedgerWriter::Errand::write(Ledger& ledger) {
  std::vector<const DurableRequest*> new_ones;
  std::vector<const VerdictEntry*> entries;
  for (const Acceptance& each : arrivals) new_ones.push_back(&each.arrival);
  for (const Recording& each : verdicts) entries.push_back(&each.verdict);
  const int64_t now_ms = system_now_ms();
  auto receipts = ledger.write(new_ones, entries, now_ms);
  if (!receipts) return write_one_by_one(ledger, now_ms);
  for (Recording& each : verdicts) each.written = true;
  for (size_t i = 0; i < arrivals.size(); ++i) arrivals[i].outcome = std::move((*receipts)[i]);
}

// So that what is too large for the disk takes nothing else along. Verdicts first: they are owed.
void LedgerWriter::Errand::write_one_by_one(Ledger& ledger, int64_t now_ms) {
  for (Recording& each : verdicts) {
    const VerdictEntry* entry = &each.verdict;
    each.written = ledger.write({}, {&entry, 1}, now_ms).ok();
  }
  for (Acceptance& each : arrivals) {
    const DurableRequest* arrival = &each.arrival;
    auto receipts = ledger.write({&arrival, 1}, {}, now_ms);
    if (receipts) {
      each.outcome = std::move(receipts->front());
    } else {
      each.outcome = std::move(receipts).error();
    }
  }
}

void LedgerWriter::Errand::alter(Ledger& ledger) {
  std::vector<const SessionChange*> all;
  for (const Alteration& each : alterations) all.push_back(&each.change);
  const auto made = ledger.write(all);
  for (size_t i = 0; i < alterations.size(); ++i) {
    const auto alone = made ? Result<std::vector<bool>>(std::vector<bool>{(*made)[i]})
                            : ledger.write({&all[i], 1});
    const bool removes = takes_away(*all[i]);
    if (!alone) {
      alterations[i].outcome = alone.error();
      if (removes) removals.push_back(*all[i]);
    } else {
      alterations[i].outcome = removes || alone->front();
    }
    tidy |= removes;
  }
}

// What is left in `removals` is to be tried again.
void LedgerWriter::Errand::remove(Ledger& ledger) {
  std::vector<const SessionChange*> all;
  for (const SessionChange& each : removals) all.push_back(&each);
  if (ledger.write(all)) removals.clear();
}

// The functions that are called from here may bring more: that goes with the next errand.
void LedgerWriter::come_back(Errand& errand) {
  verdicts_under_way_ = 0;
  keep_unwritten(errand);
  keep_unremoved(errand);
  plan_tidying(errand);
  for (Recording& each : errand.verdicts) {
    if (each.written) each.then(each.verdict);
  }
  for (Acceptance& each : errand.arrivals) each.then(std::move(each.outcome));
  // The last one first: what is taken back has none behind it then.
  std::ranges::reverse(errand.alterations);
  for (Alteration& each : errand.alterations) {
    if (each.then) each.then(std::move(each.outcome));
  }
  for (Reading& each : errand.readings) each.then();
  under_way_ = false;
  const bool only_retries =
      arrivals_.empty() && alterations_.empty() && readings_.empty() && !tidy_ && retry_ != 0;
  if (!only_retries && (busy() || tidy_)) go();
  if (!busy()) rested_();
}

void LedgerWriter::keep_unwritten(Errand& errand) {
  std::vector<Recording> kept;
  for (Recording& each : errand.verdicts) {
    if (each.written) {
      unwritten_bytes_ -= each.verdict.json.size();
    } else {
      kept.push_back(std::move(each));
    }
  }
  if (kept.empty()) return;
  verdicts_.insert(verdicts_.begin(), std::make_move_iterator(kept.begin()),
                   std::make_move_iterator(kept.end()));
  retry_ = deadlines_.at(sys::monotonic_now() + kRetry, [this] {
    retry_ = 0;
    go();
  });
}

void LedgerWriter::keep_unremoved(Errand& errand) {
  unremoved_.insert(unremoved_.end(), std::make_move_iterator(errand.removals.begin()),
                    std::make_move_iterator(errand.removals.end()));
  if (unremoved_.empty() || next_removal_ != 0) return;
  next_removal_ = deadlines_.at(sys::monotonic_now() + kRetry, [this] {
    next_removal_ = 0;
    removes_ = true;
    go();
  });
}

void LedgerWriter::plan_tidying(const Errand& errand) {
  if (!errand.tidy && errand.verdicts.empty()) return;
  deadlines_.forget(std::exchange(next_tidy_, 0));
  if (errand.next_tidy && !*errand.next_tidy) return;  // nothing is kept
  sys::Milliseconds pause = kRetry;
  if (errand.next_tidy) pause = sys::Milliseconds(**errand.next_tidy - system_now_ms());
  next_tidy_ = deadlines_.at(sys::monotonic_now() + pause, [this] {
    next_tidy_ = 0;
    tidy();
  });
}

}  // namespace service
