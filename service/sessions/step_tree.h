#pragma once
// StepTree: the steps of a session by small numbers, the place in it, and names of places. Pure.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace service {

class StepTree {
 public:
  // The node to go on from; empty before the first step.
  const std::string& node() const { return steps_[place_].node; }
  size_t place() const { return place_; }  // 0: before the first step
  const std::string& branch() const { return branch_; }

  // A step that was kept, from here. Its number.
  size_t add(std::string node, std::string_view source, std::string_view label);
  // What was done here and is no step of its own: this place has that node now. The one before.
  std::string amend(std::string node) {
    return std::exchange(steps_[place_].node, std::move(node));
  }
  void move_on(size_t step);  // to one that was added here, and the branch with it
  // To a number, then on no branch, or the name of one. Empty, or why not, in words.
  std::string go(std::string_view where);
  std::string undo(size_t steps);
  // A branch of this name begins here, and moves on with the steps.
  std::string begin_branch(std::string_view name);
  bool has_branch(std::string_view name) const { return branches_.contains(name); }

  struct Row {
    size_t depth = 0, number = 0, parent = 0;
    bool is_here = false;
    std::string source, label, branches;
  };
  std::vector<Row> rows() const;  // children behind their parents, as a tree is drawn

 private:
  struct Step {
    size_t parent = 0;
    std::string node, source, label;
  };
  void append_rows(size_t step, size_t depth, std::vector<Row>& rows) const;
  std::string branches_at(size_t step) const;

  std::vector<Step> steps_{Step{}};
  size_t place_ = 0;
  std::string branch_ = "main";
  std::map<std::string, size_t, std::less<>> branches_{{"main", 0}};
};

std::string drawing_of(const StepTree& tree);
std::string json_of(const StepTree& tree);

}  // namespace service
