#include "service/sessions/step_tree.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "runtime/values/shown_text.h"

namespace service {

size_t StepTree::add(std::string node, std::string_view source, std::string_view label) {
  steps_.push_back({place_, std::move(node), std::string(source), std::string(label)});
  return steps_.size() - 1;
}

void StepTree::move_on(size_t step) {
  place_ = step;
  if (!branch_.empty()) branches_.at(branch_) = step;
}

std::string StepTree::go(std::string_view where) {
  if (const auto found = branches_.find(where); found != branches_.end()) {
    branch_ = found->first;
    place_ = found->second;
    return "";
  }
  size_t number = 0;
  const auto [end, error] = std::from_chars(where.data(), where.data() + where.size(), number);
  if (error != std::errc() || end != where.data() + where.size() || number >= steps_.size())
    return fmt::format("\"{}\" is no step and no branch here; %tree shows them", where);
  branch_.clear();
  place_ = number;
  return "";
}

std::string StepTree::undo(size_t steps) {
  size_t place = place_;
  for (size_t i = 0; i < steps; ++i) {
    if (place == 0) return fmt::format("there are {} steps to undo, not {}", i, steps);
    place = steps_[place].parent;
  }
  place_ = place;
  if (!branch_.empty()) branches_.at(branch_) = place;
  return "";
}

std::string StepTree::begin_branch(std::string_view name) {
  const bool is_number = name.find_first_not_of("0123456789") == name.npos;
  if (name.empty() || is_number || name.find(' ') != name.npos)
    return "a branch has a name, which is one word and no number";
  constexpr size_t kLongest = 100, kMost = 1000;
  if (name.size() > kLongest) return fmt::format("a name has at most {} bytes", kLongest);
  if (branches_.size() >= kMost) return fmt::format("there are {} branches already", kMost);
  if (branches_.contains(name)) return fmt::format("there is a branch \"{}\" already", name);
  branch_ = name;
  branches_.emplace(branch_, place_);
  return "";
}

std::string StepTree::branches_at(size_t step) const {
  std::string names;
  for (const auto& [name, at] : branches_) {
    if (at == step) names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

void StepTree::append_rows(size_t step, size_t depth, std::vector<Row>& rows) const {
  const Step& it = steps_[step];
  rows.push_back({depth, step, it.parent, step == place_, it.source, it.label, branches_at(step)});
  size_t children = 0;
  for (size_t i = step + 1; i < steps_.size(); ++i) children += steps_[i].parent == step ? 1 : 0;
  for (size_t i = step + 1; i < steps_.size(); ++i) {
    // A line of steps stays in its column.
    if (steps_[i].parent == step) append_rows(i, depth + (children > 1 ? 1 : 0), rows);
  }
}

std::vector<StepTree::Row> StepTree::rows() const {
  std::vector<Row> rows;
  append_rows(0, 0, rows);
  return rows;
}

std::string drawing_of(const StepTree& tree) {
  constexpr size_t kColumns = 60;
  std::string text;
  for (const StepTree::Row& row : tree.rows()) {
    const std::string_view line = std::string_view(row.source).substr(0, row.source.find('\n'));
    const bool has_more = line.size() < row.source.size();
    text += fmt::format("{}{} {}", std::string(2 * row.depth, ' '), row.is_here ? '*' : ' ',
                        row.number);
    if (row.number == 0) text += "  the beginning";
    if (row.number != 0)
      text += "  " + runtime::clip(runtime::escape_controls(line, runtime::Lines::kEscape) +
                                       (has_more ? " ..." : ""),
                                   kColumns);
    if (!row.label.empty() && row.label != "OK") text += "  " + row.label;
    if (!row.branches.empty()) text += "  (" + row.branches + ")";
    text += '\n';
  }
  return text;
}

std::string json_of(const StepTree& tree) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const StepTree::Row& row : tree.rows()) {
    nlohmann::ordered_json each = {{"step", row.number}, {"here", row.is_here}};
    if (row.number != 0)
      each.update({{"parent", row.parent}, {"source", row.source}, {"label", row.label}});
    if (!row.branches.empty()) each["branches"] = row.branches;
    rows.push_back(std::move(each));
  }
  return nlohmann::ordered_json{{"tree", std::move(rows)}}.dump(
             -1, ' ', false, nlohmann::json::error_handler_t::replace) +
         "\n";
}

}  // namespace service
