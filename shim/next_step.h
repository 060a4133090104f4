#pragma once
// A step that goes on in the process of the one before it, or in one that stands by at its node.
// That lies stopped where it has answered, or would; the cell's first process writes behind its
// answer what it is told now, and lets it go on.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "shim/protocol.h"
#include "shim/value_format.h"

namespace shim {

struct NextStep {
  uint64_t nonce = 0;  // 0: there is none
  uint64_t seed = 0;   // of its chance; 0: to be drawn
  uint64_t value_bytes = 0;
  uint64_t request_bytes = 0;
  char request[kShortRequest] = {};

  std::string_view told() const {
    return {request, request_bytes < sizeof request ? request_bytes : 0};
  }
};

// The region has room for one at its end. An answer never reaches so far: the program may still
// read what it was told while it writes that.
constexpr size_t kNextStepRoom = sizeof(NextStep) + alignof(NextStep);

inline NextStep* next_step_of(AnswerRegion* region, size_t region_bytes) {
  const size_t at = (region_bytes - sizeof(NextStep)) / alignof(NextStep) * alignof(NextStep);
  return reinterpret_cast<NextStep*>(reinterpret_cast<char*>(region) + at);
}
constexpr size_t most_answer_bytes(size_t region_bytes) {
  return region_bytes - sizeof(AnswerRegion) - kNextStepRoom;
}

}  // namespace shim
