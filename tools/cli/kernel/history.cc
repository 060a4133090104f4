#include "tools/cli/kernel/history.h"

#include <fnmatch.h>

#include <algorithm>
#include <ranges>

#include "tools/cli/kernel/message.h"

namespace cli {

namespace {
constexpr int64_t kThisSession = 1;
constexpr int64_t kAll = int64_t{1} << 40;
}  // namespace

std::vector<History::Cell> History::found(const nlohmann::json& request) const {
  std::vector<Cell> cells;
  const std::string kind = text_of(request, "hist_access_type");
  const std::string pattern = text_of(request, "pattern");
  const int64_t start = number_of(request, "start", 0), stop = number_of(request, "stop", kAll);
  const int64_t session = number_of(request, "session", 0);
  const bool is_ours = session == 0 || session == kThisSession;
  for (const Cell& cell : cells_) {
    const bool is_in_range = is_ours && cell.count >= start && cell.count < stop;
    const bool is_like = kind == "search" && ::fnmatch(pattern.c_str(), cell.code.c_str(), 0) == 0;
    if (kind == "tail" || is_like || (kind == "range" && is_in_range)) cells.push_back(cell);
  }
  if (kind == "search" && flag_of(request, "unique", false)) {
    std::vector<Cell> last;  // of those that are equal
    for (const Cell& cell : cells) {
      std::erase_if(last, [&](const Cell& other) { return other.code == cell.code; });
      last.push_back(cell);
    }
    cells = std::move(last);
  }
  const auto most =
      static_cast<size_t>(std::clamp<int64_t>(number_of(request, "n", kAll), 0, kAll));
  if (kind != "range" && cells.size() > most)
    cells.erase(cells.begin(), cells.end() - static_cast<std::ptrdiff_t>(most));
  return cells;
}

nlohmann::json History::answer(const nlohmann::json& request) const {
  nlohmann::json rows = nlohmann::json::array();
  const bool with_output = flag_of(request, "output", false);
  for (const Cell& cell : found(request)) {
    nlohmann::json shown = cell.code;
    if (with_output) shown = nlohmann::json::array({cell.code, nullptr});
    rows.push_back(nlohmann::json::array({kThisSession, cell.count, shown}));
  }
  return {{"status", "ok"}, {"history", rows}};
}

}  // namespace cli
