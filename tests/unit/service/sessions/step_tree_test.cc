#include "service/sessions/step_tree.h"

#include <catch2/catch.hpp>

namespace service {
namespace {

void step(StepTree& tree, const std::string& source, const std::string& label = "OK") {
  tree.move_on(tree.add("n-" + source, source, label));
}

}  // namespace

TEST_CASE("steps are undone as far as there are any", "[session]") {
  StepTree tree;
  CHECK(tree.node().empty());
  step(tree, "a");
  step(tree, "b");
  CHECK(tree.node() == "n-b");
  CHECK(tree.undo(1).empty());
  CHECK(tree.node() == "n-a");
  CHECK(tree.undo(2) == "there are 1 steps to undo, not 2");
  CHECK(tree.node() == "n-a");
  CHECK(tree.undo(1).empty());
  CHECK(tree.node().empty());
}

TEST_CASE("what is no step of its own belongs to the place where it was done", "[session]") {
  StepTree tree;
  CHECK(tree.amend("n-0").empty());
  CHECK(tree.node() == "n-0");
  step(tree, "a");
  CHECK(tree.amend("n-a2") == "n-a");
  CHECK(tree.place() == 1);
  step(tree, "b");
  CHECK(tree.undo(1).empty());
  CHECK(tree.node() == "n-a2");
  CHECK(tree.undo(1).empty());
  CHECK(tree.node() == "n-0");
}

TEST_CASE("a branch moves on with its steps, and others stay", "[session]") {
  StepTree tree;
  step(tree, "a");
  CHECK(tree.begin_branch("other").empty());
  step(tree, "b");
  CHECK(tree.go("main").empty());
  CHECK(tree.node() == "n-a");
  step(tree, "c");
  CHECK(tree.go("other").empty());
  CHECK(tree.node() == "n-b");
  CHECK(tree.branch() == "other");
  CHECK(tree.undo(1).empty());
  CHECK(tree.go("main").empty());
  CHECK(tree.node() == "n-c");
}

TEST_CASE("who goes to a number is on no branch", "[session]") {
  StepTree tree;
  step(tree, "a");
  step(tree, "b");
  CHECK(tree.go("1").empty());
  CHECK(tree.branch().empty());
  step(tree, "c");
  CHECK(tree.go("main").empty());
  CHECK(tree.node() == "n-b");
  CHECK(tree.go("9") == "\"9\" is no step and no branch here; %tree shows them");
  CHECK(tree.go("1x") == "\"1x\" is no step and no branch here; %tree shows them");
}

TEST_CASE("a branch has a name of its own", "[session]") {
  StepTree tree;
  CHECK(tree.begin_branch("") == "a branch has a name, which is one word and no number");
  CHECK(tree.begin_branch("12") == tree.begin_branch("two words"));
  CHECK(tree.begin_branch(std::string(101, 'b')) == "a name has at most 100 bytes");
  CHECK(tree.begin_branch("main") == "there is a branch \"main\" already");
}

TEST_CASE("a tree is drawn with its place, its branches and what failed", "[session]") {
  StepTree tree;
  step(tree, "a\nmore");
  CHECK(tree.begin_branch("b").empty());
  step(tree, "c", "KeyError");
  CHECK(tree.go("main").empty());
  step(tree, "\x1b[31m");
  CHECK(drawing_of(tree) ==
        "  0  the beginning\n"
        "  1  a ...\n"
        "    2  c  KeyError  (b)\n"
        "  * 3  \\x1b[31m  (main)\n");
  CHECK(json_of(tree) ==
        "{\"tree\":[{\"step\":0,\"here\":false},"
        "{\"step\":1,\"here\":false,\"parent\":0,\"source\":\"a\\nmore\",\"label\":\"OK\"},"
        "{\"step\":2,\"here\":false,\"parent\":1,\"source\":\"c\",\"label\":\"KeyError\","
        "\"branches\":\"b\"},"
        "{\"step\":3,\"here\":true,\"parent\":1,\"source\":\"\\u001b[31m\",\"label\":\"OK\","
        "\"branches\":\"main\"}]}\n");
}

}  // namespace service
