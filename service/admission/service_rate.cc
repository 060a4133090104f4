#include "service/admission/service_rate.h"

#include <algorithm>
#include <cmath>

namespace service {

void ServiceRate::ended(sys::Microseconds took) {
  const double us = static_cast<double>(std::max<int64_t>(took.count(), 1));
  mean_us_ = mean_us_ ? *mean_us_ + kNewest * (us - *mean_us_) : us;
}

size_t ServiceRate::within(sys::Microseconds time) const {
  if (!mean_us_) return 0;
  return static_cast<size_t>(static_cast<double>(time.count()) * workers_ / *mean_us_);
}

std::optional<sys::Milliseconds> ServiceRate::wait_behind(size_t jobs) const {
  if (!mean_us_ || workers_ == 0) return std::nullopt;
  const double us = static_cast<double>(jobs) * *mean_us_ / workers_;
  return sys::Milliseconds(static_cast<int64_t>(std::min(us / 1000, 1e12)));
}

unsigned ServiceRate::retry_after(size_t jobs) const {
  const auto wait = wait_behind(jobs);
  if (!wait) return 1;
  const double seconds = std::ceil(static_cast<double>(wait->count()) / 1000);
  return static_cast<unsigned>(std::clamp(seconds, 1.0, 600.0));
}

}  // namespace service
