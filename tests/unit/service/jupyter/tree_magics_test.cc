#include "service/jupyter/tree_magics.h"

#include <catch2/catch.hpp>

namespace service::jupyter {
namespace {

StepTree three_steps() {
  StepTree tree;
  for (const char* node : {"n-1", "n-2", "n-3"}) tree.move_on(tree.add(node, node, "OK"));
  return tree;
}

TreeAnswer performed(const char* cell, StepTree& tree) {
  return perform(*tree_magic_of(cell), tree);
}

}  // namespace

TEST_CASE("a cell of one line may move between states, others are code", "[jupyter]") {
  const auto magic = tree_magic_of("\n %undo  2 \n");
  REQUIRE(magic);
  CHECK(magic->name == "undo");
  CHECK(magic->argument == "2");
  CHECK(tree_magic_of("%tree")->argument.empty());
  for (const char* code : {"", "undo", "%undone", "%undo\nx = 1", "%%undo", "% undo", "%time x"})
    CHECK(!tree_magic_of(code));
}

TEST_CASE("undo goes back, and not before the beginning", "[jupyter]") {
  StepTree tree = three_steps();
  CHECK(performed("%undo 2", tree).text == "at step 1, branch main\n");
  CHECK(tree.node() == "n-1");
  CHECK(performed("%undo 2", tree).wrong == "there are 1 steps to undo, not 2");
  CHECK(performed("%undo x", tree).wrong == "\"x\" is not a number of steps");
  CHECK(performed("%undo", tree).text == "at the beginning, branch main\n");
  CHECK(tree.node().empty());
}

TEST_CASE("a branch begins once, and is gone to afterwards", "[jupyter]") {
  StepTree tree = three_steps();
  CHECK(performed("%branch other", tree).text == "at step 3, branch other\n");
  tree.move_on(tree.add("n-4", "", "OK"));
  CHECK(performed("%branch main", tree).text == "at step 3, branch main\n");
  CHECK(performed("%branch other", tree).text == "at step 4, branch other\n");
  CHECK(performed("%go 2", tree).text == "at step 2\n");
  CHECK(!performed("%branch two words", tree).wrong.empty());
  CHECK(performed("%branch", tree).text == performed("%tree", tree).text);
}

}  // namespace service::jupyter
