#include "tools/cli/batch/tally.h"

#include <algorithm>

#include "tools/cli/text.h"

namespace cli {

void Tally::add(std::string_view label, Kind kind) {
  ++total_;
  if (kind == Kind::kTrouble) ++trouble_;
  auto found = counts_.find(label);
  if (found == counts_.end()) {
    std::string name = clip(escape_controls(label, Lines::kEscape), kLongestLabel);
    if (counts_.size() >= kMostLabels && !counts_.contains(name)) name = kOther;
    found = counts_.try_emplace(std::move(name), 0).first;
  }
  ++found->second;
}

void Tally::add_earlier(std::string_view label, Kind kind) {
  add(label, kind);
  ++earlier_;
}

std::vector<std::pair<std::string, size_t>> Tally::sorted() const {
  std::vector<std::pair<std::string, size_t>> rows(counts_.begin(), counts_.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return rows;
}

}  // namespace cli
