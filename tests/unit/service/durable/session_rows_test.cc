#include "service/durable/session_rows.h"

#include <catch2/catch.hpp>

#include "service/durable/ledger_writer.h"
#include "tests/unit/service/durable/full_disk.h"
#include "tests/unit/service/durable/ledger_fixture.h"

namespace service {
namespace {

StepRow step_at(const std::string& node, const std::string& parent, int64_t when_ms = 1000) {
  return {.node = node,
          .parent = parent,
          .body = "{\"source\":\"" + node + "\"}",
          .label = "OK",
          .bytes = 7,
          .when_ms = when_ms};
}

SessionChange begun(const std::string& id, int64_t when_ms = 1000) {
  SessionRow row{.id = "s-" + id, .tenant = "ann", .defaults = "{}", .template_name = "python"};
  row.steps.push_back(step_at("n-" + id, "", when_ms));
  return SessionBegun{std::move(row)};
}

SessionChange kept(const std::string& session, const std::string& node, const std::string& parent,
                   int64_t when_ms = 1000) {
  return StepsKept{"s-" + session, {step_at("n-" + node, "n-" + parent, when_ms)}};
}

// Whether each could be made.
std::vector<bool> write(Ledger& ledger, const std::vector<SessionChange>& changes) {
  std::vector<const SessionChange*> all;
  for (const SessionChange& each : changes) all.push_back(&each);
  auto made = ledger.write(all);
  REQUIRE(made.ok());
  return std::move(made).value();
}

// "s-a: n-a n-b", those that their clients deleted in brackets.
std::vector<std::string> sessions_in(Ledger& ledger) {
  auto rows = ledger.sessions();
  REQUIRE(rows.ok());
  std::vector<std::string> all;
  for (const SessionRow& row : *rows) {
    std::string& text = all.emplace_back(row.id + ":");
    for (const StepRow& step : row.steps)
      text += step.is_deleted ? " [" + step.node + "]" : " " + step.node;
  }
  return all;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a session is read as it was written, with its steps in their order",
          "[service][ledger][sessions]") {
  LedgerFolder folder;
  write(*folder.open(), {begun("a"), kept("a", "z", "a"), kept("a", "b", "z")});

  auto ledger = folder.open();
  const auto rows = ledger->sessions();

  REQUIRE(rows.ok());
  const SessionRow& row = rows->at(0);
  CHECK(row.id == "s-a");
  CHECK(row.tenant == "ann");
  CHECK(row.defaults == "{}");
  CHECK(row.template_name == "python");
  REQUIRE(row.steps.size() == 3);
  CHECK(row.steps[0].parent.empty());
  const StepRow& last = row.steps[2];
  CHECK(last.node == "n-b");
  CHECK(last.parent == "n-z");
  CHECK(last.body == R"({"source":"n-b"})");
  CHECK(last.label == "OK");
  CHECK(last.bytes == 7);
  CHECK(last.when_ms == 1000);
  CHECK_FALSE(last.is_deleted);
}

TEST_CASE("a step is written behind one that is there, of its own session",
          "[service][ledger][sessions]") {
  LedgerFolder folder;
  auto ledger = folder.open();
  write(*ledger, {begun("a"), begun("b")});

  CHECK(write(*ledger, {kept("a", "x", "b"), kept("a", "y", "gone"), kept("c", "z", "a"),
                        kept("a", "w", "a")}) == std::vector<bool>{false, false, false, true});
  CHECK(sessions_in(*ledger) == Texts{"s-b: n-b", "s-a: n-a n-w"});
}

TEST_CASE("what goes is gone, and nothing else", "[service][ledger][sessions]") {
  LedgerFolder folder;
  auto ledger = folder.open();
  write(*ledger, {begun("a"), kept("a", "x", "a"), kept("a", "y", "x"), kept("a", "z", "a"),
                  begun("b"), kept("b", "q", "b")});

  CHECK(write(*ledger, {NodeDeleted{"n-x"}, StepTakenOut{"n-z"}, SessionOver{"s-b"}}) ==
        std::vector<bool>{true, true, true});
  CHECK(write(*ledger, {NodeDeleted{"n-q"}, StepTakenOut{"n-z"}, SessionOver{"s-b"}}) ==
        std::vector<bool>{false, false, false});
  CHECK(sessions_in(*ledger) == Texts{"s-a: n-a [n-x] n-y"});
}

TEST_CASE("sessions come in the order of their last steps", "[service][ledger][sessions]") {
  LedgerFolder folder;
  auto ledger = folder.open();
  write(*ledger, {begun("a"), begun("b"), begun("c"), kept("a", "x", "a")});

  CHECK(sessions_in(*ledger) == Texts{"s-b: n-b", "s-c: n-c", "s-a: n-a n-x"});
}

TEST_CASE("several steps are written or none, and one that is there is no obstacle",
          "[service][ledger][sessions]") {
  LedgerFolder folder;
  auto ledger = folder.open();
  write(*ledger, {begun("a")});
  const StepRow x = step_at("n-x", "n-a"), y = step_at("n-y", "n-x"), z = step_at("n-z", "n-gone");

  CHECK(write(*ledger, {StepsKept{"s-a", {x, y, z}}}) == std::vector<bool>{false});
  CHECK(sessions_in(*ledger) == Texts{"s-a: n-a"});
  CHECK(write(*ledger, {StepsKept{"s-a", {x}}, StepsKept{"s-a", {x, y}}}) ==
        std::vector<bool>{true, true});
  CHECK(write(*ledger, {begun("a")}) == std::vector<bool>{true});
  CHECK(sessions_in(*ledger) == Texts{"s-a: n-a n-x n-y"});
}

TEST_CASE("a ledger of version 1 is used, with what is in it, and has sessions from then on",
          "[service][ledger][sessions]") {
  LedgerFolder folder;
  {
    auto ledger = folder.open();
    const DurableRequest arrival = durable_request_of("j-1", {"one"});
    const DurableRequest* each = &arrival;
    REQUIRE(ledger->write({&each, 1}, {}, 0).ok());
  }
  {
    auto raw = Database::open(folder.file());
    REQUIRE(raw->run("DROP TABLE sessions; DROP TABLE steps; PRAGMA user_version=1").ok());
  }

  write(*folder.open(), {begun("a")});

  auto ledger = folder.open();
  CHECK(sessions_in(*ledger) == Texts{"s-a: n-a"});
  CHECK(ledger->waiting()->size() == 1);
}

TEST_CASE("a ledger writer tells when a step is on the disk, and what takes away is tried again",
          "[service][durable][sessions]") {
  LedgerFolder folder;
  runtime::Loop loop;
  Deadlines deadlines(loop);
  std::shared_ptr<Ledger> ledger = folder.open();
  bool stops_at_rest = false;
  LedgerWriter writer(loop, deadlines, ledger, [&] {
    if (stops_at_rest) loop.stop();
  });
  std::vector<std::string> told;
  const auto note = [&](const LedgerWriter::Made& made) {
    told.push_back(!made ? "not taken" : *made ? "made" : "missing");
    loop.stop();
  };
  const auto wait_for = [&](size_t count) {
    while (told.size() < count) loop.run();
  };
  writer.change(begun("a"), note);
  writer.change(begun("b"), note);
  wait_for(2);
  CHECK(told == Texts{"made", "made"});

  std::optional<FullDisk> full(std::in_place);
  writer.change(kept("a", "x", "a"), note);
  writer.change(SessionOver{"s-b"}, note);
  wait_for(4);
  CHECK(told == Texts{"made", "made", "not taken", "not taken"});
  CHECK_FALSE(writer.busy());  // nobody waits for what is tried again

  full.reset();
  writer.change(kept("a", "y", "a"), note);
  writer.change(kept("a", "z", "x"), note);
  wait_for(6);
  std::sort(told.begin() + 4, told.end());
  CHECK(told[4] == "made");
  CHECK(told[5] == "missing");  // the one before it was refused
  stops_at_rest = true;
  while (sessions_in(*ledger).size() > 1) loop.run();
  CHECK(sessions_in(*ledger) == Texts{"s-a: n-a n-y"});
}

}  // namespace service
