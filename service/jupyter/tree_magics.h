#pragma once
// The magics that move a notebook between the states of its session: a cell of one line, which runs
// no code. Pure.

#include <optional>
#include <string>
#include <string_view>

#include "service/sessions/step_tree.h"

namespace service::jupyter {

struct TreeMagic {
  std::string name, argument;  // "undo", "2"
};
// None: the cell is anything else.
std::optional<TreeMagic> tree_magic_of(std::string_view cell);

struct TreeAnswer {
  std::string text;   // to print
  std::string wrong;  // why nothing was done
};
TreeAnswer perform(const TreeMagic& magic, StepTree& tree);

}  // namespace service::jupyter
