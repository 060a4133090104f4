#pragma once
// Writes answers: long ones on another thread.

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "runtime/loop/loop.h"
#include "service/http/request.h"

namespace service::judge0 {

inline constexpr size_t kTree = 4;  // the tree and the text of an answer take so many times its own

// `then` is called with what `make` makes, now or later. `bytes`: its own, about.
inline void write_answer(runtime::Loop& loop, size_t bytes, std::function<Response()> make,
                         std::function<void(Response)> then) {
  constexpr size_t kLong = size_t{64} << 10;
  if (bytes < kLong) return then(make());
  auto made = std::make_shared<Response>();
  runtime::run_aside(
      loop, [made, make = std::move(make)] { *made = make(); },
      [made, then = std::move(then)] { then(std::move(*made)); });
}

}  // namespace service::judge0
