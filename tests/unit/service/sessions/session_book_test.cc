#include "service/sessions/session_book.h"

#include <catch2/catch.hpp>

namespace service {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

SessionBook::Sees only(const std::string& tenant) {
  return [tenant](const std::string& of) { return of == tenant; };
}

SessionStep step_at(const std::string& node, const std::string& parent, size_t body = 2) {
  SessionStep step;
  step.node = node;
  step.parent = parent;
  step.body = std::string(body, ' ');
  return step;
}

std::vector<SessionBook::Freed> begin(SessionBook& book, const std::string& id,
                                      const std::string& tenant, minutes now = minutes(1),
                                      size_t body = 2) {
  auto defaults = std::make_shared<const runtime::JobDefaults>();
  return book.begin({"s-" + id, tenant, defaults, true}, step_at("n-" + id, "", body), now);
}

std::string why(SessionBook& book, const std::string& node, const std::string& tenant) {
  const auto found = book.find_node(node, only(tenant), minutes(9));
  const auto* missing = std::get_if<SessionBook::Missing>(&found);
  if (!missing) return "there";
  return (missing->was_there ? "gone: " : "never: ") + missing->why;
}

SessionBook::Place place_of(SessionBook& book, const std::string& node, const std::string& tenant) {
  return std::get<SessionBook::Place>(book.find_node(node, only(tenant), minutes(9)));
}

}  // namespace

TEST_CASE("the path to a node has its steps from the first, and no other branch's", "[sessions]") {
  SessionBook book({});
  begin(book, "a", "ann");
  for (const auto& [node, parent] : {std::pair("n-b", "n-a"), {"n-x", "n-a"}, {"n-c", "n-b"}})
    book.add("s-a", step_at(node, parent), minutes(1));

  std::vector<std::string> nodes;
  for (const SessionStep* step : book.path_to(place_of(book, "n-c", "ann")))
    nodes.push_back(step->node);

  CHECK(nodes == std::vector<std::string>{"n-a", "n-b", "n-c"});
}

TEST_CASE("what is another tenant's is never there, be it gone or not", "[sessions]") {
  SessionBook book({});
  begin(book, "a", "ann");
  CHECK(why(book, "n-a", "bob") == "never: there is no such node");
  book.end("s-a");
  CHECK(why(book, "n-a", "bob") == "never: there is no such node");
  CHECK(why(book, "n-a", "ann") == "gone: session \"s-a\" is gone: its client has ended it");
}

TEST_CASE("sessions are listed to who may see them, the most recently used first", "[sessions]") {
  const auto ids = [](const SessionBook::Listing& listing) {
    std::string text;
    for (const Session* session : listing.sessions) text += session->id + ' ';
    return text + std::to_string(listing.all);
  };
  SessionBook book({});
  CHECK(ids(book.list(only("ann"), 9)) == "0");
  begin(book, "a", "ann", minutes(1));
  begin(book, "b", "bob", minutes(2));
  begin(book, "c", "ann", minutes(3));
  CHECK(ids(book.list(only("ann"), 9)) == "s-c s-a 2");
  CHECK(ids(book.list(only("bob"), 9)) == "s-b 1");
  CHECK(ids(book.list([](const std::string&) { return true; }, 2)) == "s-c s-b 3");
  book.add("s-a", step_at("n-a2", "n-a"), minutes(4));
  CHECK(ids(book.list(only("ann"), 1)) == "s-a 2");
  book.end("s-a");
  CHECK(ids(book.list(only("ann"), 9)) == "s-c 1");
}

TEST_CASE("a session that ends frees the nodes that are there", "[sessions]") {
  SessionBook book({});
  begin(book, "a", "ann");
  book.add("s-a", step_at("n-b", "n-a"), minutes(1));
  book.note_deleted("n-a", "deleted");

  const SessionBook::Freed freed = book.end("s-a");

  CHECK(freed.tenant == "ann");
  CHECK(freed.nodes == std::vector<std::string>{"n-b"});
  CHECK(book.steps() == 0);
  CHECK(book.bytes() == 0);
}

TEST_CASE("what has to be made anew for a node begins behind the last one that is there",
          "[sessions]") {
  SessionBook book({});
  begin(book, "a", "ann");
  for (const auto& [node, parent] : {std::pair("n-b", "n-a"), {"n-c", "n-b"}, {"n-d", "n-c"}})
    book.add("s-a", step_at(node, parent), minutes(1));
  using Nodes = std::vector<std::string>;
  CHECK(book.missing_before("n-d").empty());
  for (const char* node : {"n-b", "n-c", "n-d"}) book.note_gone(node, node, "no room");
  CHECK(book.missing_before("n-d") == Nodes{"n-b", "n-c", "n-d"});
  CHECK(book.missing_before("n-c") == Nodes{"n-b", "n-c"});
  CHECK(book.put_back("n-b", "n-2", 7));
  CHECK(book.missing_before("n-d") == Nodes{"n-c", "n-d"});
  book.note_gone("n-a", "n-a", "no room");
  CHECK(book.missing_before("n-a") == Nodes{"n-a"});
  CHECK(book.missing_before("n-none").empty());
  CHECK(book.depth_of("n-c") == 3);
  CHECK(book.depth_of("n-none") == 0);
}

TEST_CASE("a node that was put back has the state of then, and another when it goes again",
          "[sessions]") {
  SessionBook book({});
  begin(book, "a", "ann");
  CHECK_FALSE(book.put_back("n-a", "n-2", 7));  // it is there
  book.note_gone("n-a", "n-a", "no room");
  CHECK(book.put_back("n-a", "n-2", 7));
  book.note_gone("n-a", "n-a", "said of the one before");
  CHECK(why(book, "n-a", "ann") == "there");
  CHECK(book.step_of("n-a")->gone.empty());
  CHECK(book.step_of("n-a")->state() == "n-2");
  CHECK(book.end("s-a").nodes == std::vector<std::string>{"n-2"});
  CHECK_FALSE(book.put_back("n-a", "n-3", 7));
}

TEST_CASE("what is not written yet goes back to the last that is", "[sessions]") {
  SessionBook book({});
  begin(book, "a", "ann");
  book.add("s-a", step_at("n-b", "n-a"), minutes(1));
  book.add("s-a", step_at("n-c", "n-b"), minutes(1));
  const auto unwritten = [&book] {
    std::vector<std::string> nodes;
    for (const SessionStep* step : book.unwritten_before("n-c")) nodes.push_back(step->node);
    return nodes;
  };
  CHECK(unwritten() == std::vector<std::string>{"n-a", "n-b", "n-c"});
  book.note_written("n-a");
  CHECK(unwritten() == std::vector<std::string>{"n-b", "n-c"});
  book.note_written("n-c");
  CHECK(unwritten().empty());
}

TEST_CASE("a tenant's sessions make its own go, the least recently used first", "[sessions]") {
  SessionBook book({.most_steps = 10'000, .most_bytes = 40'000});  // 20,000 are hers
  begin(book, "a", "ann", minutes(1), 2000);
  begin(book, "b", "ann", minutes(2), 2000);
  place_of(book, "n-a", "ann");
  const auto freed = begin(book, "c", "ann", minutes(4), 4000);

  REQUIRE(freed.size() == 1);
  CHECK(freed.front().nodes == std::vector<std::string>{"n-b"});
  CHECK(why(book, "n-b", "ann") ==
        "gone: session \"s-b\" is gone: its steps made room for those of newer sessions");
  CHECK(why(book, "n-a", "ann") == "there");
  CHECK(why(book, "n-c", "ann") == "there");
}

TEST_CASE("one tenant's sessions never make another's go", "[sessions]") {
  SessionBook book({.most_steps = 16});
  begin(book, "ann", "ann");
  for (int i = 0; i < 50; ++i) {
    for (const SessionBook::Freed& freed : begin(book, std::to_string(i), "bob"))
      CHECK(freed.tenant == "bob");
  }
  CHECK(why(book, "n-ann", "ann") == "there");
  CHECK(book.steps() == 8);  // bob has half of the other fifteen
}

TEST_CASE("a session has no room beyond its tenant's, though it makes no other's go",
          "[sessions]") {
  SessionBook book({.most_steps = 8});
  begin(book, "a", "ann");
  begin(book, "b", "ann");
  for (const char* node : {"n-1", "n-2"}) book.add("s-a", step_at(node, "n-a"), minutes(1));
  CHECK(book.has_room("ann", "s-a", 2));  // that of b
  CHECK(book.has_room("ann", "s-new", 2));
  book.add("s-a", step_at("n-3", "n-a"), minutes(1));
  CHECK_FALSE(book.has_room("ann", "s-a", 2));
  CHECK(book.has_room("bob", "s-new", 2));
  CHECK(why(book, "n-b", "ann").starts_with("gone: "));
  CHECK(why(book, "n-a", "ann") == "there");
  CHECK_FALSE(book.has_room("carl", "s-new", SessionBook::Plan().most_bytes));
}

TEST_CASE("a step that was not wanted is taken out, unless others went on from it", "[sessions]") {
  SessionBook book({});
  begin(book, "a", "ann");
  book.add("s-a", step_at("n-b", "n-a"), minutes(1));
  book.add("s-a", step_at("n-c", "n-b"), minutes(1));
  const size_t bytes = book.bytes();

  book.take_out("n-b", "not kept");
  CHECK(place_of(book, "n-b", "ann").step->gone == "not kept");
  CHECK(book.bytes() == bytes);

  book.take_out("n-c", "not kept");
  CHECK(why(book, "n-c", "ann") == "gone: not kept");
  CHECK(book.steps() == 2);
  CHECK(book.bytes() < bytes);
}

TEST_CASE("a step that is left out has those behind it go on from its parent", "[sessions]") {
  SessionBook book({});
  begin(book, "a", "ann");
  const size_t bytes = book.bytes();
  for (const auto& [node, parent] :
       {std::pair("n-long-name", "n-a"), {"n-b", "n-long-name"}, {"n-c", "n-long-name"}})
    book.add("s-a", step_at(node, parent), minutes(1));

  book.leave_out("n-long-name", "left behind");

  CHECK_FALSE(why(book, "n-long-name", "ann").starts_with("gone"));
  CHECK(place_of(book, "n-b", "ann").step->parent == "n-a");
  CHECK(book.path_to(place_of(book, "n-c", "ann")).size() == 2);
  CHECK(book.steps() == 3);
  for (const char* node : {"n-b", "n-c"}) book.leave_out(node, "left behind");
  CHECK(book.bytes() == bytes);
  book.leave_out("n-a", "left behind");
  CHECK(place_of(book, "n-a", "ann").step->gone == "left behind");
}

TEST_CASE("a session that nobody uses for long goes, and the engine is told", "[sessions]") {
  SessionBook book({.idle = hours(1)});
  begin(book, "a", "ann", minutes(0));
  begin(book, "b", "ann", minutes(50));
  CHECK(book.end_idle(minutes(59)).empty());
  const auto freed = book.end_idle(minutes(60));
  REQUIRE(freed.size() == 1);
  CHECK(freed.front().nodes == std::vector<std::string>{"n-a"});
  CHECK(why(book, "n-a", "ann").ends_with("nobody has used it for too long"));
  CHECK(why(book, "n-b", "ann") == "there");
}

}  // namespace service
