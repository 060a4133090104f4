#include "sandbox/sys/utc.h"

#include <chrono>
#include <cstdio>
#include <ctime>

namespace sys {

std::string utc_text(Milliseconds since_1970, Fraction fraction) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_1970);
  const std::time_t whole = seconds.count();
  std::tm utc{};
  ::gmtime_r(&whole, &utc);
  char text[64];
  const size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
  if (fraction == Fraction::kNone) return std::string(text, size) + 'Z';
  char part[32];
  std::snprintf(part, sizeof part, ".%03dZ", static_cast<int>((since_1970 - seconds).count()));
  return std::string(text, size) + part;
}

Milliseconds time_since_1970() {
  return std::chrono::duration_cast<Milliseconds>(
      std::chrono::system_clock::now().time_since_epoch());
}

}  // namespace sys
