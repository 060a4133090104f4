#include "runtime/remote/held_result.h"

#include <utility>

#include "runtime/host/host_pressure.h"
#include "runtime/judging/judge.h"

namespace runtime {

void hold(JobResult& result, const std::shared_ptr<Holding>& holding) {
  if (!holding) return;
  auto held = std::make_shared<HeldBytes>(holding);
  if (held->grow(bytes_made(result))) {
    result.held = std::move(held);
    return;
  }
  give_up(result, held_too_much());
}

}  // namespace runtime
