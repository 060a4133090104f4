#include "service/apis/e2b/store.h"

#include <catch2/catch.hpp>

namespace service::e2b {

namespace {

Sandbox sandbox(const std::string& id, State now, const std::string& owner = "ann") {
  Sandbox made{.id = id, .owner = owner, .client = owner};
  made.first = {"s1", "n0"};
  made.contexts.push_back({.id = "c", .now = std::move(now)});
  return made;
}

// "s1/n1", or "s1" for all of a session.
std::vector<std::string> names_of(const std::vector<SandboxStore::Freed>& freed) {
  std::vector<std::string> names;
  for (const auto& each : freed)
    names.push_back(each.state.session + (each.state.node.empty() ? "" : "/" + each.state.node));
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a sandbox that moves on frees the node that it leaves, but not its first",
          "[apis][e2b]") {
  SandboxStore store({});
  Sandbox& one = store.add(sandbox("a", {"s1", "n0"}));

  CHECK(names_of(store.set(one, one.usual(), {"s1", "n1"})).empty());
  CHECK(names_of(store.set(one, one.usual(), {"s1", "n2"})) == Names{"s1/n1"});
  CHECK(names_of(store.remove("a")) == Names{"s1/n2", "s1"});
  CHECK(store.size() == 0);
}

TEST_CASE("contexts may begin in a session of its own, which goes with the sandbox",
          "[apis][e2b]") {
  SandboxStore store({});
  Sandbox& one = store.add(sandbox("a", {"s1", "n1"}));

  CHECK(names_of(store.set_first(one, {"s2", "m0"})) == Names{"s1/n0"});
  store.add_context(one, {.id = "d", .now = {"s2", "m1"}});
  CHECK(names_of(store.remove("a")) == Names{"s1", "s2/m1", "s2"});
}

TEST_CASE("a node that another sandbox is at stays", "[apis][e2b]") {
  SandboxStore store({});
  Sandbox& one = store.add(sandbox("a", {"s1", "n1"}));
  store.add(sandbox("b", {"s1", "n1"}));

  CHECK(names_of(store.set(one, one.usual(), {"s1", "n2"})).empty());
  CHECK(names_of(store.remove("a")) == Names{"s1/n2"});
  CHECK(names_of(store.remove("b")) == Names{"s1/n1", "s1"});
}

TEST_CASE("a state that is held outlives its sandbox", "[apis][e2b]") {
  SandboxStore store({});
  store.add(sandbox("a", {"s1", "n1"}));
  store.hold({"s1", "n1"});

  CHECK(names_of(store.remove("a")) == Names{"s1/n0"});
  CHECK(names_of(store.release("ann", {"s1", "n1"})) == Names{"s1"});
}

TEST_CASE("a sandbox is its owner's", "[apis][e2b]") {
  SandboxStore store({});
  store.add(sandbox("a", {"s1", "n1"}));

  CHECK(store.find("ann", "a"));
  CHECK_FALSE(store.find("bob", "a"));
  CHECK(store.list("ann").size() == 1);
  CHECK(store.list("bob").empty());
}

TEST_CASE("a client has so many sandboxes, and all of them so many", "[apis][e2b]") {
  SandboxStore store({.sandboxes = 1, .all_sandboxes = 2});
  store.add(sandbox("a", {"s1", "n1"}));

  CHECK_FALSE(store.why_full("ann").empty());
  CHECK(store.why_full("bob").empty());
  store.add(sandbox("b", {"s2", "n2"}, "bob"));
  CHECK_FALSE(store.why_full("cat").empty());
  store.remove("a");
  CHECK(store.why_full("ann").empty());
}

TEST_CASE("contexts are found by their ids, the usual one without", "[apis][e2b]") {
  SandboxStore store({});
  Sandbox& one = store.add(sandbox("a", {"s1", "n1"}));
  store.add_context(one, {.id = "d", .now = {"s1", "n0"}});

  REQUIRE(one.context("d"));
  CHECK(one.context("")->id == "c");
  CHECK_FALSE(one.context("e"));
  CHECK(names_of(store.remove_context(one, "d")).empty());
  CHECK_FALSE(one.context("d"));
}

TEST_CASE("a snapshot holds its state, and is found by its name or its id", "[apis][e2b]") {
  SandboxStore store({.snapshots = 1});
  store.add(sandbox("a", {"s1", "n1"}));
  store.add(Snapshot{.id = "x",
                     .name = "here",
                     .owner = "ann",
                     .client = "ann",
                     .sandbox = "a",
                     .first = {"s1", "n0"},
                     .state = {"s1", "n1"}});

  CHECK_FALSE(store.why_full_of_snapshots("ann").empty());
  CHECK(store.snapshot("ann", "here") == store.snapshot("ann", "x"));
  CHECK(store.snapshot("ann", "x"));
  CHECK_FALSE(store.snapshot("bob", "x"));
  CHECK(names_of(store.remove("a")).empty());
  CHECK_FALSE(store.remove_snapshot("bob", "x"));
  CHECK(names_of(*store.remove_snapshot("ann", "x")) == Names{"s1/n1", "s1"});
}

TEST_CASE("snapshots that nobody has used for long take no place", "[apis][e2b]") {
  SandboxStore store({.snapshots = 2});
  for (const std::string id : {"x", "y"})
    store.add(Snapshot{.id = id,
                       .owner = "ann",
                       .client = "ann",
                       .first = {id, id + "-n0"},
                       .state = {id, id + "-n1"},
                       .used = sys::Milliseconds(5)});
  store.snapshot("ann", "y")->used = sys::Milliseconds(7);

  const auto freed = store.remove_snapshots(sys::Milliseconds(7));

  CHECK(names_of(freed) == Names{"x/x-n1", "x"});
  CHECK(store.why_full_of_snapshots("ann").empty());
  CHECK(store.snapshots("ann").size() == 1);
}

}  // namespace service::e2b
