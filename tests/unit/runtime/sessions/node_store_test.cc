#include "runtime/sessions/node_store.h"

#include <catch2/catch.hpp>

namespace runtime {
namespace {

using std::chrono::minutes;

Node node_of(const std::string& tenant, uint64_t bytes, std::shared_ptr<const void> hold = {}) {
  auto state = std::make_shared<NodeState>();
  auto own = std::make_shared<NodeContents>();
  own->bytes = state->bytes = bytes;
  own->hold = std::move(hold);
  state->files.push_back(std::move(own));
  return {.id = {},
          .tenant = tenant,
          .template_name = "python",
          .of = std::make_shared<Incarnation>(),
          .state = std::move(state)};
}

// As a step is kept. Empty: there is no room.
std::string keep(NodeStore& store, const std::string& tenant, uint64_t bytes,
                 sys::Nanoseconds now = minutes(1)) {
  auto hold = store.reserve(tenant, bytes);
  return hold ? store.put(node_of(tenant, bytes, std::move(hold)), now) : "";
}

std::string why(NodeStore& store, const std::string& id, const std::string& tenant) {
  const auto found = store.find(id, tenant, minutes(1));
  return found ? "" : found.error().text();
}

}  // namespace

TEST_CASE("a tenant's nodes make its own go, the least recently used first", "[nodes]") {
  NodeStore store({.memory = sys::Bytes{1000}});
  const std::string a = keep(store, "ann", 200, minutes(1));
  const std::string b = keep(store, "ann", 200, minutes(2));
  REQUIRE(store.find(a, "ann", minutes(3)));
  const std::string c = keep(store, "ann", 200, minutes(4));  // 500 are hers
  CHECK(why(store, a, "ann").empty());
  CHECK(why(store, b, "ann") == "node \"" + b + "\" is gone: its memory was needed for others");
  CHECK(why(store, c, "ann").empty());
  CHECK(store.counts().bytes == 400);
  CHECK(store.counts().dropped == 1);
}

TEST_CASE("one tenant's nodes never make another's go", "[nodes]") {
  NodeStore store({.memory = sys::Bytes{1000}});
  const std::string of_ann = keep(store, "ann", 500, minutes(1));
  for (int i = 0; i < 20; ++i) keep(store, "bob", 200, minutes(2));
  CHECK(why(store, of_ann, "ann").empty());
  CHECK(store.counts().bytes == 700);    // bob has what is free: half of the other 500
  CHECK(store.room_for("carl") == 150);  // and somebody new finds room
  CHECK(keep(store, "carl", 200, minutes(3)).empty());
  CHECK_FALSE(keep(store, "carl", 150, minutes(3)).empty());
}

TEST_CASE("a node is its tenant's alone", "[nodes]") {
  NodeStore store({});
  const std::string id = keep(store, "ann", 1, minutes(1));
  CHECK(why(store, id, "bob") == "\"" + id + "\" is no node of a session here");
  CHECK(why(store, id, "bob").substr(id.size() + 2) ==
        why(store, "n-0", "bob").substr(std::string("n-0").size() + 2));
  CHECK_FALSE(store.forget(id, "bob"));
  CHECK(store.forget(id, "ann"));
  CHECK(why(store, id, "ann") == "node \"" + id + "\" is gone: its session has ended");
  CHECK_FALSE(store.forget(id, "ann"));
}

TEST_CASE("a node that nobody uses goes by itself", "[nodes]") {
  NodeStore store({.idle = minutes(30)});
  const std::string a = keep(store, "ann", 1, minutes(0));
  const std::string b = keep(store, "ann", 1, minutes(10));
  store.forget_idle(minutes(31));
  CHECK(why(store, a, "ann") == "node \"" + a + "\" is gone: nobody has used it for too long");
  CHECK(why(store, b, "ann").empty());
}

TEST_CASE("memory of a node counts before it is written and until nobody has it", "[nodes]") {
  NodeStore store({.memory = sys::Bytes{1000}});
  auto first = store.reserve("ann", 300);
  CHECK(store.counts().bytes == 300);
  CHECK_FALSE(store.reserve("ann", 300));  // as two steps may end at once
  const std::string a = store.put(node_of("ann", 300, std::move(first)), minutes(1));
  const auto runs_on = store.find(a, "ann", minutes(2)).value();
  CHECK_FALSE(store.reserve("ann", 300));  // who goes on from it has its memory still
  CHECK(why(store, a, "ann").empty());
  CHECK(store.forget(a, "ann"));
  CHECK(store.counts().bytes == 300);
  CHECK(store.counts().nodes == 0);
}

TEST_CASE("what cannot have room drops nothing", "[nodes]") {
  NodeStore store({.memory = sys::Bytes{1000}});
  const std::string a = keep(store, "ann", 200), b = keep(store, "ann", 200);
  const auto used = store.find(a, "ann", minutes(2)).value();
  CHECK_FALSE(store.reserve("ann", 501));
  CHECK_FALSE(store.reserve("ann", 400));  // b alone is not enough
  CHECK(why(store, b, "ann").empty());
  CHECK(store.reserve("ann", 300));
  CHECK_FALSE(why(store, b, "ann").empty());
}

TEST_CASE("why a node has gone is for its tenant alone", "[nodes]") {
  NodeStore store({.idle = minutes(30)});
  const std::string id = keep(store, "ann", 1);
  store.forget_idle(minutes(60));
  CHECK(why(store, id, "bob") == "\"" + id + "\" is no node of a session here");
}

TEST_CASE("there are no more nodes than descriptors for them", "[nodes]") {
  NodeStore store({.most = 6});
  for (int i = 0; i < 5; ++i) CHECK_FALSE(keep(store, "ann", 1, minutes(i)).empty());
  CHECK(store.counts().nodes == 3);  // half of what the others have left
  for (int i = 0; i < 5; ++i) CHECK_FALSE(keep(store, "bob", 1, minutes(9)).empty());
  CHECK(store.counts().nodes == 4);
}

TEST_CASE("memory that other nodes share is not free before they go", "[nodes]") {
  NodeStore store({.memory = sys::Bytes{1000}});  // 500 are hers
  auto hold = store.reserve("ann", 300);
  Node first = node_of("ann", 300, std::move(hold));
  const auto shared = first.state->files.front();
  const std::string a = store.put(std::move(first), minutes(1));
  Node second = node_of("ann", 100, store.reserve("ann", 100));
  auto state = std::make_shared<NodeState>(*second.state);
  state->files.push_back(shared);
  second.state = std::move(state);
  const std::string b = store.put(std::move(second), minutes(2));
  auto more = store.reserve("ann", 400);
  CHECK_FALSE(more);  // we have it here, so that nothing would be won
  CHECK(why(store, a, "ann").empty());
  CHECK(why(store, b, "ann").empty());
}

TEST_CASE("a node whose memory is shared goes with the one that shares it", "[nodes]") {
  NodeStore store({.memory = sys::Bytes{1000}});
  std::string a, b;
  {
    Node first = node_of("ann", 300, store.reserve("ann", 300));
    const auto shared = first.state->files.front();
    a = store.put(std::move(first), minutes(1));
    Node second = node_of("ann", 100, store.reserve("ann", 100));
    auto state = std::make_shared<NodeState>(*second.state);
    state->files.push_back(shared);
    second.state = std::move(state);
    b = store.put(std::move(second), minutes(2));
  }
  CHECK(store.reserve("ann", 400));
  CHECK_FALSE(why(store, a, "ann").empty());
  CHECK_FALSE(why(store, b, "ann").empty());
  CHECK(store.counts().bytes == 0);
}

TEST_CASE("a node that would free nothing stays", "[nodes]") {
  NodeStore store({.memory = sys::Bytes{1000}});
  Node first = node_of("ann", 200, store.reserve("ann", 200));
  const auto shared = first.state->files.front();
  const std::string root = store.put(std::move(first), minutes(1));
  Node second = node_of("ann", 100, store.reserve("ann", 100));
  auto state = std::make_shared<NodeState>(*second.state);
  state->files.push_back(shared);
  second.state = std::move(state);
  const std::string held = store.put(std::move(second), minutes(2));
  const auto runs_on = store.find(held, "ann", minutes(3)).value();
  const std::string other = keep(store, "ann", 100, minutes(4));
  CHECK(store.reserve("ann", 200));
  CHECK(why(store, root, "ann").empty());
  CHECK_FALSE(why(store, other, "ann").empty());
}

TEST_CASE("files that nodes share count as long as somebody has them", "[nodes]") {
  NodeStore store({.most = 8});  // 4 are hers
  std::vector<std::shared_ptr<const NodeContents>> files;
  for (int i = 0; i < 3; ++i) {
    Node node = node_of("ann", 1, store.reserve("ann", 1));
    files.push_back(node.state->files.front());
    CHECK(store.forget(store.put(std::move(node), minutes(i)), "ann"));
  }
  CHECK(store.counts().nodes == 0);
  CHECK_FALSE(keep(store, "ann", 1, minutes(4)).empty());
  CHECK_FALSE(keep(store, "ann", 1, minutes(5)).empty());  // the one before goes
  CHECK(store.counts().nodes == 1);
  const auto held = store.reserve("ann", 1);
  CHECK(held);
  CHECK(store.counts().nodes == 0);
  CHECK_FALSE(store.reserve("ann", 1));
}

TEST_CASE("to ask for a node is no use of it", "[nodes]") {
  NodeStore store({.memory = sys::Bytes{1000}});
  const std::string a = keep(store, "ann", 250, minutes(1));
  const std::string b = keep(store, "ann", 250, minutes(2));
  CHECK(store.why_gone(a, "ann").empty());
  CHECK(store.why_gone(a, "bob") == "\"" + a + "\" is no node of a session here");
  keep(store, "ann", 250, minutes(3));
  CHECK(store.why_gone(a, "ann") == "node \"" + a + "\" is gone: its memory was needed for others");
  CHECK(store.why_gone(b, "ann").empty());
}

}  // namespace runtime
