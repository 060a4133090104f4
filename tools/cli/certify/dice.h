#pragma once
// Dice: random numbers of which every machine and standard library makes the same ones from a seed
// (those of <random>'s distributions may differ). Pure.

#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <string>

namespace cli {

class Dice {
 public:
  explicit Dice(uint64_t seed) : source_(seed) {}

  uint64_t below(uint64_t bound) { return source_() % bound; }
  uint64_t from_to(uint64_t least, uint64_t most) { return least + below(most - least + 1); }
  double share() { return static_cast<double>(source_() >> 11) * 0x1p-53; }  // in [0, 1)
  double between(double least, double most) { return least + (most - least) * share(); }
  // The time until the next of events that come at random, `mean` apart.
  double wait(double mean) { return -mean * std::log1p(-share()); }
  template <typename T>
  const T& one_of(std::span<const T> choices) {
    return choices[below(choices.size())];
  }

 private:
  std::mt19937_64 source_;  // whose numbers the standard fixes
};

}  // namespace cli
