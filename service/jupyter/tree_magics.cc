#include "service/jupyter/tree_magics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace service::jupyter {
namespace {

constexpr std::array<std::string_view, 4> kTreeMagics{"undo", "branch", "go", "tree"};
constexpr std::string_view kBlanks = " \t\r\n";

std::string_view stripped(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

std::string place_in_words(const StepTree& tree) {
  const std::string place =
      tree.place() == 0 ? "the beginning" : fmt::format("step {}", tree.place());
  return tree.branch().empty() ? place : fmt::format("{}, branch {}", place, tree.branch());
}

std::string undo_steps(const std::string& argument, StepTree& tree) {
  size_t steps = 1;
  const char* const end = argument.data() + argument.size();
  const auto read = std::from_chars(argument.data(), end, steps);
  if (!argument.empty() && (read.ec != std::errc() || read.ptr != end))
    return fmt::format("\"{}\" is not a number of steps", argument);
  return tree.undo(steps);
}

}  // namespace

std::optional<TreeMagic> tree_magic_of(std::string_view cell) {
  const std::string_view line = stripped(cell);
  if (!line.starts_with('%') || line.find('\n') != line.npos) return std::nullopt;
  const size_t end = std::min(line.find_first_of(" \t"), line.size());
  const std::string_view name = line.substr(1, end - 1);
  if (std::ranges::find(kTreeMagics, name) == kTreeMagics.end()) return std::nullopt;
  return TreeMagic{std::string(name), std::string(stripped(line.substr(end)))};
}

TreeAnswer perform(const TreeMagic& magic, StepTree& tree) {
  TreeAnswer answer;
  const bool shows = magic.name == "tree" || (magic.name == "branch" && magic.argument.empty());
  if (shows) return {.text = drawing_of(tree), .wrong = {}};
  if (magic.name == "undo") answer.wrong = undo_steps(magic.argument, tree);
  if (magic.name == "go") answer.wrong = tree.go(magic.argument);
  if (magic.name == "branch") {
    // One that is there is gone to, so that a cell can be run twice.
    answer.wrong = tree.begin_branch(magic.argument);
    if (!answer.wrong.empty() && tree.has_branch(magic.argument))
      answer.wrong = tree.go(magic.argument);
  }
  if (answer.wrong.empty()) answer.text = "at " + place_in_words(tree) + "\n";
  return answer;
}

}  // namespace service::jupyter
