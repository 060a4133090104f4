#pragma once
// Reports the progress of an import and can ask it to end early. Called from the importing thread,
// some thousand times a gigabyte: the display decides how often it shows it.

#include <cstdint>
#include <functional>
#include <string_view>

#include "sandbox/sys/result.h"

namespace images {

struct Milestone {
  std::string_view work;  // "unpacking", "checking", "copying", "hashing"
  uint64_t done = 0;      // bytes of what is read
  uint64_t total = 0;     // bytes; 0: not known
};
enum class Wish : uint8_t { kGoOn, kStop };
using Watch = std::function<Wish(const Milestone&)>;  // may be empty

// The error that ends an import whose watch wants it to.
inline sys::Result<void> report(const Watch& watch, const Milestone& milestone) {
  if (watch && watch(milestone) == Wish::kStop) return sys::Error::from_errno("stopped", ECANCELED);
  return {};
}

}  // namespace images
