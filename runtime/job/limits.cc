#include "runtime/job/limits.h"

#include <type_traits>

namespace runtime {

int64_t LimitRule::get(const Limits& limits) const {
  return std::visit(
      [this](const auto& amount) -> int64_t {
        using Type = std::decay_t<decltype(amount)>;
        if constexpr (std::is_same_v<Type, sys::Milliseconds>) return amount.count();
        if constexpr (std::is_same_v<Type, sys::Bytes>)
          return static_cast<int64_t>(amount.count >> shift());
        if constexpr (std::is_same_v<Type, uint32_t>) return amount;
      },
      amount_in(limits));
}

void LimitRule::set(Limits& limits, int64_t value) const {
  std::visit(
      [&](auto of_type) {
        auto& into = limits.*of_type;
        using Type = std::decay_t<decltype(into)>;
        if constexpr (std::is_same_v<Type, sys::Bytes>) {
          into.count = static_cast<uint64_t>(value) << shift();
        } else {
          into = Type(value);
        }
      },
      member);
}

void LimitRule::assign(Limits& limits, const Amount& amount) const {
  std::visit(
      [&](auto of_type) {
        auto& into = limits.*of_type;
        into = std::get<std::decay_t<decltype(into)>>(amount);
      },
      member);
}

LimitRule::Amount LimitRule::amount_in(const Limits& limits) const {
  return std::visit([&](auto of_type) -> Amount { return limits.*of_type; }, member);
}

}  // namespace runtime
