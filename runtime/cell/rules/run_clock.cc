#include "runtime/cell/rules/run_clock.h"

#include <algorithm>
#include <utility>

namespace runtime {

using std::chrono::milliseconds;
using sys::Nanoseconds;

namespace {

// A job that is dead or about to die needs nothing of the kind.
bool is_for_the_living(RunClock::Due due) {
  using Due = RunClock::Due;
  return due == Due::kCpu || due == Due::kAim || due == Due::kWall || due == Due::kWatch ||
         due == Due::kBearings;
}

}  // namespace

void RunClock::order(const Terms& terms, Nanoseconds now) {
  terms_ = terms;
  phase_ = Phase::kSent;
  killed_ = came_late_ = false;
  due_at_.fill(kNever);
  started_at_ = now;
  ended_by_ = kNever;
  looked_for_ = waited_ = put_off_to_ = {};
  late_start_.begin(terms.makes_processes);
}

void RunClock::begin(Nanoseconds now) {
  begin_wall_time(now);
  due_at(Due::kAttention) = now + kAttention;
  due_at(Due::kCpu) = now + terms_.cpu;
  due_at(Due::kWatch) = terms_.is_watched ? now + kWatch : kNever;
  due_at(Due::kBearings) = now + std::min<Nanoseconds>(kBearings, terms_.wall / 4);
  standing_.begin(now);
  due_at(Due::kStanding) = terms_.may_stand_back ? now + Standing::kFirstLook : kNever;
}

void RunClock::begin_wall_time(Nanoseconds at) {
  started_at_ = at;
  set_deadline();
  if (!killed_) due_at(Due::kPatience) = kNever;
  ended_by_ = kNever;
}

void RunClock::set_deadline() {
  const Nanoseconds deadline = started_at_ + terms_.wall + waited_;
  const Nanoseconds foresight = kForesight + milliseconds(terms_.cell % kSpread);
  due_at(Due::kWall) = deadline;
  due_at(Due::kAim) = deadline - std::min<Nanoseconds>(foresight, terms_.wall / 4);
}

bool RunClock::forks() {
  if (phase_ != Phase::kSent) return false;
  phase_ = Phase::kForked;
  return true;
}

void RunClock::hold() {
  phase_ = Phase::kHeld;
  for (Due due : {Due::kCpu, Due::kAim, Due::kWall, Due::kPatience, Due::kWatch, Due::kStanding,
                  Due::kBearings})
    due_at(due) = kNever;
}

void RunClock::release(Nanoseconds now) {
  phase_ = Phase::kReleased;
  due_at(Due::kPatience) = now + kWipePatience;
}

void RunClock::kill(Nanoseconds now) {
  killed_ = true;
  due_at(Due::kPatience) = now + kKillPatience;
}

RunClock::Cancel RunClock::cancel() const {
  if (is_doomed()) return Cancel::kTooLate;
  return phase_ == Phase::kHeld ? Cancel::kNote : Cancel::kKill;
}

Nanoseconds RunClock::next() const { return *std::min_element(due_at_.begin(), due_at_.end()); }

RunClock::Due RunClock::next_due(Nanoseconds now, Due last) {
  for (size_t i = static_cast<size_t>(last) + 1; i < kDues; ++i) {
    if (now < due_at_[i]) continue;
    const Due due = static_cast<Due>(i);
    const bool is_late = now - std::exchange(due_at_[i], kNever) > kLate;
    if (due == Due::kPatience && is_late && !std::exchange(came_late_, true)) {
      due_at_[i] = now + kKillPatience;
      continue;
    }
    if (is_for_the_living(due) && is_doomed()) continue;
    return due;
  }
  return Due::kNothing;
}

std::optional<Nanoseconds> RunClock::used_up(Nanoseconds used) {
  const Nanoseconds charged = used + looked_for_;
  if (charged < terms_.cpu) return std::nullopt;
  due_at(Due::kCpu) = kNever;
  return charged;
}

// One second of CPU time takes at least one second on each CPU.
void RunClock::read_cpu_again(Nanoseconds now, Nanoseconds used, unsigned cpus) {
  const Nanoseconds rest = terms_.cpu - used - looked_for_;
  due_at(Due::kCpu) = now + std::max<Nanoseconds>(milliseconds(1), rest / cpus);
}

bool RunClock::looked(Nanoseconds cost) {
  looked_for_ += cost;
  return cost > kDearLook;
}

Nanoseconds RunClock::credit(Nanoseconds elapsed, const Waiting& own, const Waiting& other) {
  const Nanoseconds ran = own.ran / own.cpus + other.ran / other.cpus;
  return std::clamp<Nanoseconds>(own.longest + other.longest, Nanoseconds(0),
                                 std::max(elapsed - ran, Nanoseconds(0)));
}

void RunClock::aimed(Nanoseconds now, std::optional<Nanoseconds> oldest, const Waiting& own,
                     const Waiting& other) {
  if (!oldest) {
    late_start_.found_nobody();
  } else {
    if (const auto start = late_start_.moved(started_at_, *oldest)) begin_wall_time(*start);
  }
  (void)has_waited(now, own, other);
}

// A look that would come at once is left out: the deadline is near enough.
bool RunClock::has_waited(Nanoseconds now, const Waiting& own, const Waiting& other) {
  const Nanoseconds waited =
      std::min(credit(now - started_at_, own, other), kMostStretch * terms_.wall);
  if (waited <= waited_) return false;
  waited_ = waited;
  set_deadline();
  if (due_at(Due::kAim) < now + kLookAgain) due_at(Due::kAim) = kNever;
  return due_at(Due::kWall) > now;
}

bool RunClock::still_waits(Nanoseconds now, const Looks& looks) {
  if (looks.ran && looks.apart <= kNear) return false;
  if ((waited_ < kBusy && !looks.is_crowded) ||
      now >= started_at_ + (1 + kMostStretch) * terms_.wall)
    return false;
  due_at(Due::kAim) = kNever;  // or this look and the next would not be far enough from each other
  due_at(Due::kWall) = put_off_to_ = now + kSurelyCounted;
  return true;
}

Nanoseconds RunClock::deadline_moved() const {
  return std::max(waited_, put_off_to_ - started_at_ - terms_.wall);
}

void RunClock::all_ended(Nanoseconds now, Left left) {
  // Nobody looked before the deadline.
  const Nanoseconds deadline = started_at_ + terms_.wall + waited_;
  if (left == Left::kDead) ended_by_ = std::min(ended_by_, is_over_by_far(now) ? now : deadline);
  late_start_.found_nobody();
  due_at(Due::kWall) = due_at(Due::kAim) = now + kLookAgain;
  due_at(Due::kPatience) = std::min(due_at(Due::kPatience), now + kWipePatience);
}

void RunClock::watched(Nanoseconds now, Nanoseconds cost) {
  due_at(Due::kWatch) = now + std::clamp(20 * cost, kWatch, kWatchSlowest);
}

bool RunClock::stands_back(Nanoseconds now, Nanoseconds used, double share) {
  due_at(Due::kStanding) = now + Standing::kPeriod;
  return standing_.stands_back(now, used, share);
}

}  // namespace runtime
