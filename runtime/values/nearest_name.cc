#include "runtime/values/nearest_name.h"

#include <algorithm>
#include <vector>

namespace runtime {

namespace {

constexpr size_t kLongestName = 64;
constexpr size_t kNever = 1000;

// Characters left out, added, changed, or swapped with their neighbour: the distance of Damerau and
// Levenshtein between strings in which no part is edited twice (optimal string alignment).
size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> steps(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) steps[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) steps[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = steps[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      steps[i][j] = std::min({steps[i - 1][j] + 1, steps[i][j - 1] + 1, changed});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) steps[i][j] = std::min(steps[i][j], steps[i - 2][j - 2] + 1);
    }
  }
  return steps[a.size()][b.size()];
}

// 0 is the same name; a name that begins with the other is near whatever its length.
size_t strangeness(std::string_view given, std::string_view known) {
  if (given.empty() || given.size() > kLongestName) return kNever;
  if (given.size() > 1 && (known.starts_with(given) || given.starts_with(known))) return 1;
  const size_t steps = distance(given, known);
  return steps <= std::max<size_t>(1, std::min(given.size(), known.size()) / 3) ? steps : kNever;
}

}  // namespace

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> names) {
  std::string_view best;
  size_t least = kNever;
  for (std::string_view known : names) {
    const size_t steps = strangeness(name, known);
    if (steps < least) {
      least = steps;
      best = known;
    }
  }
  return best;
}

}  // namespace runtime
