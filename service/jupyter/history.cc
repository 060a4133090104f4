#include "service/jupyter/history.h"

#include <fnmatch.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "service/jupyter/message.h"

namespace service::jupyter {

namespace {

constexpr int64_t kThisSession = 1;
constexpr int64_t kAll = int64_t{1} << 40;
constexpr size_t kMostText = size_t{4} << 20;  // of one answer

// Whether cells are like a pattern of the shell, as long as the work is bounded: fnmatch() of a
// pattern with several stars takes the time of both lengths multiplied.
class Search {
 public:
  explicit Search(std::string pattern) : pattern_(std::move(pattern)) {}

  bool finds(const std::string& code) {
    const size_t work = (pattern_.size() + 1) * (code.size() + 1);
    if (work > left_) return false;
    left_ -= work;
    return ::fnmatch(pattern_.c_str(), code.c_str(), 0) == 0;
  }

 private:
  const std::string pattern_;
  size_t left_ = size_t{16} << 20;
};

}  // namespace

// The newest ones, as many as an answer may have.
std::vector<const History::Cell*> History::found(const nlohmann::json& request) const {
  const std::string kind = text_of(request, "hist_access_type");
  const int64_t start = number_of(request, "start", 0), stop = number_of(request, "stop", kAll);
  const int64_t session = number_of(request, "session", 0);
  const bool is_ours = session == 0 || session == kThisSession;
  const bool is_unique = kind == "search" && flag_of(request, "unique", false);
  const auto most =
      static_cast<size_t>(std::clamp<int64_t>(number_of(request, "n", kAll), 0, kAll));
  Search search(text_of(request, "pattern"));
  std::vector<const Cell*> cells;
  std::set<std::string_view> seen;
  size_t text = 0;
  for (auto it = cells_.rbegin(); it != cells_.rend(); ++it) {
    const Cell& cell = *it;
    const bool is_in_range = is_ours && cell.count >= start && cell.count < stop;
    const bool is_wanted = kind == "tail" || (kind == "range" && is_in_range) ||
                           (kind == "search" && search.finds(cell.code));
    if (!is_wanted || (is_unique && !seen.insert(cell.code).second)) continue;
    text += cell.code.size();
    if (text > kMostText || (kind != "range" && cells.size() == most)) break;
    cells.push_back(&cell);
  }
  std::ranges::reverse(cells);
  return cells;
}

nlohmann::json History::answer(const nlohmann::json& request) const {
  nlohmann::json rows = nlohmann::json::array();
  const bool with_output = flag_of(request, "output", false);
  for (const Cell* cell : found(request)) {
    nlohmann::json shown = cell->code;
    if (with_output) shown = nlohmann::json::array({cell->code, nullptr});
    rows.push_back(nlohmann::json::array({kThisSession, cell->count, shown}));
  }
  return {{"status", "ok"}, {"history", rows}};
}

}  // namespace service::jupyter
