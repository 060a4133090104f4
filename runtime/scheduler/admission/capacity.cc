#include "runtime/scheduler/admission/capacity.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace runtime {

using std::chrono::milliseconds;
using sys::Nanoseconds;

namespace {

constexpr Nanoseconds kGrowPause = std::chrono::seconds(1);  // between two steps up; doubled ...
constexpr Nanoseconds kLongestPause = std::chrono::seconds(32);  // ... each time one was too many
constexpr Nanoseconds kClosed = milliseconds(100);  // when not even a single job found room; ...
constexpr unsigned kMostDoublings = 5;              // ... doubled each time until one did
// The jobs of a crowd are refused one after another: that is one step.
constexpr Nanoseconds kCrowd = milliseconds(20);
constexpr Nanoseconds kHopeless = std::chrono::seconds(60);
constexpr Nanoseconds kForgotten = std::chrono::seconds(10);  // nothing was tried for so long

const char* name_of(int error) {
  switch (error) {
    case EAGAIN:
      return "EAGAIN";
    case ENOMEM:
      return "ENOMEM";
    case EMFILE:
      return "EMFILE";
    default:
      return "ENFILE";
  }
}

}  // namespace

bool is_shortage(int error) {
  return error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE;
}

Capacity::Capacity(unsigned cells, Log log)
    : log_(std::move(log)), full_(cells), width_(cells), told_(cells), pause_(kGrowPause) {}

Capacity::~Capacity() { tell(take_line()); }

bool Capacity::enter(Nanoseconds now) {
  std::string line;
  {
    std::lock_guard lock(mutex_);
    if (now < closed_until_) return false;
    if (inside_ >= width_) {
      if (width_ >= full_ || now < grow_at_) return false;
      line = take_line();
      ++width_;
      grow_at_ = now + pause_;
      has_grown_ = true;
      cause_ = "there is room again";
      line += (line.empty() ? "" : "\n") + take_line();
    }
    ++inside_;
  }
  tell(line);
  return true;
}

void Capacity::enter_anyway() {
  std::lock_guard lock(mutex_);
  ++inside_;
}

void Capacity::leave() {
  std::lock_guard lock(mutex_);
  --inside_;
}

void Capacity::serve() {
  std::lock_guard lock(mutex_);
  starved_since_ = {};
}

void Capacity::shrink(std::string_view step, int error, Nanoseconds now, unsigned before) {
  std::lock_guard lock(mutex_);
  const unsigned others = inside_ - 1;
  if (others == 0) {
    if (starved_since_ == Nanoseconds() || now - starved_at_ > kForgotten) {
      starved_since_ = now;
      refusals_ = 0;
    }
    closed_until_ = now + kClosed * (1 << std::min(std::max(refusals_++, before), kMostDoublings));
    starved_at_ = now;
  }
  if (now - shrunk_at_ > 2 * kLongestPause) pause_ = kGrowPause;
  if (std::exchange(has_grown_, false)) pause_ = std::min(2 * pause_, kLongestPause);
  shrunk_at_ = now;
  grow_at_ = now + pause_;
  if (std::max(others, 1u) >= width_) return;
  if (told_ == width_) {
    tell_at_ = now + kCrowd;
    cause_ = std::string(name_of(error)) + " on " + std::string(step);
  }
  width_ = std::max(others, 1u);
}

bool Capacity::is_narrow() const {
  std::lock_guard lock(mutex_);
  return width_ < full_;
}

bool Capacity::is_alone() const {
  std::lock_guard lock(mutex_);
  return inside_ == 1;
}

unsigned Capacity::width() const {
  std::lock_guard lock(mutex_);
  return width_;
}

bool Capacity::is_hopeless(Nanoseconds now) const {
  std::lock_guard lock(mutex_);
  return starved_since_ != Nanoseconds() && now - starved_since_ >= kHopeless;
}

Nanoseconds Capacity::patience(Nanoseconds now) const {
  std::lock_guard lock(mutex_);
  Nanoseconds next = std::max(closed_until_, inside_ < width_ ? now : grow_at_);
  if (told_ != width_) next = std::min(next, tell_at_);
  return std::max<Nanoseconds>(next - now, milliseconds(1));
}

bool Capacity::settle(Nanoseconds now) {
  std::string line;
  {
    std::lock_guard lock(mutex_);
    if (now < tell_at_) return told_ != width_;
    line = take_line();
  }
  tell(line);
  return false;
}

// Under the lock; the log may have to wait for its reader, and is written to without it.
std::string Capacity::take_line() {
  if (told_ == width_) return "";
  const unsigned from = std::exchange(told_, width_);
  return "pool: " + std::to_string(from) + " -> " + std::to_string(width_) + " cells, " + cause_;
}

void Capacity::tell(const std::string& line) const {
  if (log_ && !line.empty()) log_(line);
}

}  // namespace runtime
