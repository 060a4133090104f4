#include "service/durable/ledger.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/unit/service/durable/ledger_fixture.h"

namespace service {
namespace {

using Kind = Receipt::Kind;

Receipt add(Ledger& ledger, const DurableRequest& arrival, int64_t now_ms = 1) {
  const DurableRequest* one = &arrival;
  auto receipts = ledger.write({&one, 1}, {}, now_ms);
  if (!receipts) throw std::runtime_error(receipts.error().text());
  return receipts->front();
}

void end(Ledger& ledger, int64_t number, std::string json, int64_t now_ms = 1) {
  const VerdictEntry verdict{.number = number, .json = std::move(json)};
  const VerdictEntry* one = &verdict;
  REQUIRE(ledger.write({}, {&one, 1}, now_ms).ok());
}

std::vector<std::string> verdicts_of(Ledger& ledger, int64_t request, size_t after = 0,
                                     size_t bytes = 1000) {
  std::vector<std::string> texts;
  const auto found = ledger.verdicts(request, after, bytes);
  for (const VerdictEntry& each : *found) texts.push_back(each.json);
  return texts;
}

std::vector<std::string> bodies_that_wait(Ledger& ledger) {
  std::vector<std::string> bodies;
  const auto waiting = ledger.waiting();
  for (const Waiting& each : *waiting)
    bodies.push_back(ledger.load({&each.number, 1})->front().body);
  return bodies;
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace

TEST_CASE("what the ledger has taken is there after a crash, in order of arrival",
          "[service][ledger]") {
  LedgerFolder folder, after_crash;
  auto ledger = folder.open();
  const Receipt first = add(*ledger, durable_request_of("b-1", {"one", "two"}));
  add(*ledger, durable_request_of("j-2", {std::string("th\0ree", 6)}));
  end(*ledger, first.waiting.at(0).number, "done");

  // As it lies on the disk, with nothing closed.
  for (const auto& each : std::filesystem::directory_iterator(folder.path))
    std::filesystem::copy(each.path(), after_crash.path / each.path().filename());

  auto again = after_crash.open();
  CHECK(bodies_that_wait(*again) == std::vector<std::string>{"two", std::string("th\0ree", 6)});
  const auto progress = again->find("b-1", "a");
  REQUIRE(progress->has_value());
  CHECK((*progress)->jobs == 2);
  CHECK((*progress)->left == 1);
  CHECK(verdicts_of(*again, (*progress)->request) == std::vector<std::string>{"done"});
  CHECK(again->bytes() == ledger->bytes());
}

TEST_CASE("a verdict is written once, and never changes", "[service][ledger]") {
  LedgerFolder folder;
  auto ledger = folder.open();
  const Receipt receipt = add(*ledger, durable_request_of("j-1", {"one"}));
  const Waiting job = receipt.waiting.at(0);

  end(*ledger, job.number, "first");
  end(*ledger, job.number, "second");

  CHECK(verdicts_of(*ledger, job.request) == std::vector<std::string>{"first"});
  CHECK((*ledger->find("j-1", "a"))->left == 0);
  CHECK(ledger->waiting()->empty());
  CHECK(ledger->load({&job.number, 1})->empty());
}

TEST_CASE("verdicts of a batch come in the order in which they were made, from any one on",
          "[service][ledger]") {
  LedgerFolder folder;
  auto ledger = folder.open();
  DurableRequest batch = durable_request_of("b-1", {"one", "two", "three"});
  batch.jobs.at(1).verdict = "bad line";
  const Receipt receipt = add(*ledger, batch);
  REQUIRE(receipt.waiting.size() == 2);
  const int64_t request = receipt.waiting.at(0).request;

  end(*ledger, receipt.waiting.at(1).number, "three");
  end(*ledger, receipt.waiting.at(0).number, "one");

  CHECK(verdicts_of(*ledger, request) == std::vector<std::string>{"bad line", "three", "one"});
  CHECK(verdicts_of(*ledger, request, 1) == std::vector<std::string>{"three", "one"});
  CHECK(verdicts_of(*ledger, request, 0, 9) == std::vector<std::string>{"bad line", "three"});
  CHECK(verdicts_of(*ledger, request, 3).empty());
  CHECK((*ledger->find("b-1", "a"))->left == 0);
}

TEST_CASE("a request is its client's alone", "[service][ledger]") {
  LedgerFolder folder;
  auto ledger = folder.open();
  add(*ledger, durable_request_of("j-1", {"one"}));
  CHECK_FALSE(ledger->find("j-1", "b")->has_value());
  CHECK_FALSE(ledger->find("j-2", "a")->has_value());
}

TEST_CASE("a key stands for one request of one client, as long as that is kept",
          "[service][ledger]") {
  LedgerFolder folder;
  auto ledger = folder.open({.keep = sys::Milliseconds(100)});
  const Receipt first = add(*ledger, durable_request_of("j-1", {"one"}, "key"));
  CHECK(first.kind == Kind::kNew);

  const Receipt again = add(*ledger, durable_request_of("j-2", {"one"}, "key"));
  CHECK(again.kind == Kind::kKnown);
  CHECK(again.id == "j-1");
  CHECK(again.waiting.empty());
  CHECK(add(*ledger, durable_request_of("j-3", {"two"}, "key")).kind == Kind::kOtherRequest);
  CHECK(add(*ledger, durable_request_of("j-4", {"two"}, "key", "b")).kind == Kind::kNew);
  CHECK(add(*ledger, durable_request_of("j-5", {"one"})).kind == Kind::kNew);

  end(*ledger, first.waiting.at(0).number, "done", 1000);
  CHECK(add(*ledger, durable_request_of("j-6", {"one"}, "key"), 1050).id == "j-1");
  REQUIRE(ledger->forget(1100).ok());
  CHECK(add(*ledger, durable_request_of("j-7", {"one"}, "key"), 1101).id == "j-7");
}

TEST_CASE("one key twice in one commit is one request", "[service][ledger]") {
  LedgerFolder folder;
  auto ledger = folder.open();
  const DurableRequest one = durable_request_of("j-1", {"one"}, "key"),
                       two = durable_request_of("j-2", {"one"}, "key");
  const std::vector<const DurableRequest*> both{&one, &two};

  const auto receipts = ledger->write(both, {}, 0);

  CHECK(receipts->at(0).kind == Kind::kNew);
  CHECK(receipts->at(1).id == "j-1");
  CHECK(ledger->waiting()->size() == 1);
}

TEST_CASE("what waits is bounded in number and bytes, and repetitions still get their answer",
          "[service][ledger]") {
  LedgerFolder folder;
  auto ledger = folder.open({.most_waiting = 2, .most = sys::kibibytes(10)});
  add(*ledger, durable_request_of("j-1", {"one"}, "key"));
  CHECK(add(*ledger, durable_request_of("b-2", {"two", "three"})).kind == Kind::kTooMany);
  CHECK(add(*ledger, durable_request_of("j-3", {std::string(10'000, 'x')})).kind ==
        Kind::kTooLarge);
  const Receipt last = add(*ledger, durable_request_of("j-4", {"four"}));
  CHECK(last.kind == Kind::kNew);

  CHECK(add(*ledger, durable_request_of("j-5", {"five"})).kind == Kind::kTooMany);
  CHECK(add(*ledger, durable_request_of("j-6", {"one"}, "key")).id == "j-1");
  end(*ledger, last.waiting.at(0).number, "done");
  CHECK(add(*ledger, durable_request_of("j-7", {"seven"})).kind == Kind::kNew);
}

TEST_CASE("what has ended is forgotten when its time is over, what waits never is",
          "[service][ledger]") {
  LedgerFolder folder;
  auto ledger = folder.open({.keep = sys::Milliseconds(1000)});
  const Receipt early = add(*ledger, durable_request_of("b-1", {"one", "two"}));
  const Receipt late = add(*ledger, durable_request_of("j-2", {"three"}));
  end(*ledger, early.waiting.at(0).number, "one", 10'000);
  CHECK_FALSE(ledger->forget(99'000)->has_value());

  end(*ledger, early.waiting.at(1).number, "two", 100'000);
  CHECK(*ledger->forget(100'500) == 101'000);
  CHECK(ledger->find("b-1", "a")->has_value());
  CHECK_FALSE(ledger->forget(101'000)->has_value());

  CHECK_FALSE(ledger->find("b-1", "a")->has_value());
  CHECK(ledger->verdicts(early.waiting.at(0).request, 0, 1)->empty());
  CHECK(bodies_that_wait(*ledger) == std::vector<std::string>{"three"});
  CHECK(ledger->bytes() == Ledger::kOverhead + 5);
}

TEST_CASE("the oldest results make room, and their pages go back to the disk",
          "[service][ledger]") {
  LedgerFolder folder;
  const std::string large(1 << 20, 'x');
  auto ledger = folder.open({.most = sys::mebibytes(8)});
  for (int i = 0; i < 20; ++i) {
    const Receipt receipt = add(*ledger, durable_request_of("j-" + std::to_string(i), {"one"}));
    end(*ledger, receipt.waiting.at(0).number, large, 1 + i);
  }

  for (int64_t now = 21; *ledger->forget(now) <= now + 100; now += 100) {
  }

  CHECK(ledger->bytes() <= 8 << 20);
  CHECK_FALSE(ledger->find("j-12", "a")->has_value());
  CHECK(ledger->find("j-13", "a")->has_value());
  ledger.reset();
  CHECK(std::filesystem::file_size(folder.file()) < 14 << 20);
}

TEST_CASE("a ledger that another one has open is not opened", "[service][ledger]") {
  LedgerFolder folder;
  auto ledger = folder.open();
  const std::string complaint = folder.complaint();
  CHECK(complaint.find(folder.file()) == 0);
  CHECK(complaint.find("in use") != std::string::npos);
  CHECK(add(*ledger, durable_request_of("j-1", {"one"})).kind == Kind::kNew);
}

TEST_CASE("a file that is no ledger is named, and left as it was", "[service][ledger]") {
  LedgerFolder folder;
  write_file(folder.file(), std::string(5000, 'x'));
  CHECK(folder.complaint() == folder.file() + ": is no database");

  std::filesystem::remove(folder.file());
  {
    write_file(folder.file(), "");
    auto other = Database::open(folder.file());
    REQUIRE(other->run("CREATE TABLE mine (a)").ok());
  }
  const auto written = std::filesystem::last_write_time(folder.file());
  CHECK(folder.complaint().find("not one of zygo's") != std::string::npos);
  CHECK(std::filesystem::last_write_time(folder.file()) == written);

  std::filesystem::remove(folder.file());
  std::filesystem::create_directory(folder.file());
  CHECK(folder.complaint().find(folder.file()) != std::string::npos);
}

TEST_CASE("a ledger of another version, and a damaged one, are refused by name",
          "[service][ledger]") {
  LedgerFolder folder;
  {
    auto ledger = folder.open();
    for (int i = 0; i < 200; ++i)
      add(*ledger, durable_request_of("j-" + std::to_string(i), {std::string(1000, 'x')}));
  }
  {
    auto raw = Database::open(folder.file());
    REQUIRE(raw->run("PRAGMA user_version=7").ok());
  }
  CHECK(folder.complaint().find("is of version 7") != std::string::npos);

  {
    auto raw = Database::open(folder.file());
    REQUIRE(raw->run("PRAGMA user_version=2").ok());
  }
  CHECK(folder.complaint().empty());
  {
    std::fstream file(folder.file(), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(9 * 4096);
    file << std::string(40 * 4096, 'z');
  }
  const std::string complaint = folder.complaint();
  CHECK(complaint.find(folder.file()) == 0);
  CHECK(complaint.find("damaged") != std::string::npos);
}

TEST_CASE("only its owner can read a ledger", "[service][ledger]") {
  LedgerFolder folder;
  auto ledger = folder.open();
  add(*ledger, durable_request_of("j-1", {"one"}));
  for (const auto& each : std::filesystem::directory_iterator(folder.path)) {
    INFO(each.path());
    CHECK(each.status().permissions() ==
          (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
  }
}

}  // namespace service
