#include "service/durable/durable_jobs.h"

#include <catch2/catch.hpp>

#include "tests/unit/service/durable/full_disk.h"
#include "tests/unit/service/durable/ledger_fixture.h"
#include "tests/unit/tools/cli/fake_engine.h"

namespace service {
namespace {

// A service's durable jobs before a fake engine of one worker; made again over the same file, it is
// the next service.
struct Scene {
  LedgerFolder& folder;
  cli::FakeEngine engine{1};
  runtime::Loop loop;
  Deadlines deadlines{loop};
  const Allowance allowance{size_t{64} << 20};
  std::unique_ptr<Dispatcher> dispatcher;
  std::unique_ptr<DurableJobs> jobs;
  std::vector<std::string> verdicts;  // as they are told, wherever they come from
  std::function<bool()> enough;

  explicit Scene(LedgerFolder& where) : folder(where) {
    Dispatcher::Options at_dispatcher;
    at_dispatcher.ended = [](const Finished&) {};
    at_dispatcher.room = [this] { jobs->feed(); };
    dispatcher =
        std::make_unique<Dispatcher>(engine, loop, deadlines, allowance, std::move(at_dispatcher));
    std::shared_ptr<Ledger> ledger = folder.open();
    auto left = ledger->waiting();
    DurableJobs::Options options;
    options.knows_template = [](const std::string& name) { return name == "python"; };
    options.ended = [](const Finished&) {};
    options.rested = [] {};
    jobs = std::make_unique<DurableJobs>(loop, deadlines, *dispatcher, std::move(ledger), options);
    for (const Waiting& each : *left) watch(each.request);
    jobs->take_over(std::move(left).value());
  }
  void watch(int64_t request) {
    auto id = std::make_shared<DurableJobs::WatcherId>(0);
    *id = jobs->watch(request, [this, request, id](const VerdictEntry* verdict) {
      jobs->unwatch(request, *id);
      verdicts.push_back(verdict ? verdict->json : "left");
      if (running && enough()) loop.stop();
    });
  }
  // The request's number, when it is on the disk.
  int64_t accept(DurableRequest arrival) {
    int64_t request = 0;
    arrival.id += "-" + std::to_string(accepted);
    jobs->accept(std::move(arrival), [&](sys::Result<Receipt> receipt) {
      REQUIRE(receipt.ok());
      request = static_cast<int64_t>(++accepted);
      watch(request);
      loop.stop();
    });
    run_until([&] { return request != 0; });
    return request;
  }
  void run_until(std::function<bool()> condition) {
    enough = std::move(condition);
    running = true;
    while (!enough()) loop.run();
    running = false;
  }
  void run_until(size_t told) {
    run_until([this, told] { return verdicts.size() >= told; });
  }
  size_t count(const std::string& piece) const {
    return static_cast<size_t>(std::count_if(
        verdicts.begin(), verdicts.end(),
        [&](const std::string& each) { return each.find(piece) != std::string::npos; }));
  }
  size_t accepted = 0;
  bool running = false;  // the loop; a stop when it is not would stop its next run
};

DurableRequest job(const std::string& source, const std::string& more = "") {
  return durable_request_of("j-" + source, {R"({"source": ")" + source + "\"" + more + "}"});
}

}  // namespace

TEST_CASE("each durable job that is taken gets one verdict, and it is told when it is written",
          "[service][durable]") {
  LedgerFolder folder;
  Scene scene(folder);
  scene.jobs->start();
  for (int i = 0; i < 30; ++i) scene.accept(job("job" + std::to_string(i)));

  scene.run_until(30);

  CHECK(scene.count("\"label\":\"OK\"") == 30);
  CHECK(scene.jobs->waiting() == 0);
  CHECK(scene.engine.submitted().size() == 30);
}

TEST_CASE("the next service runs what has no verdict, in the order of arrival, and nothing twice",
          "[service][durable]") {
  LedgerFolder folder;
  {
    Scene scene(folder);
    for (const char* each : {"a", "b", "c", "d", "e", "f"}) scene.accept(job(each));
    scene.jobs->start();
    scene.run_until(2);
    scene.engine.pause();
  }
  std::vector<std::string> left;
  {
    auto ledger = folder.open();
    const auto waiting = ledger->waiting();
    for (const Waiting& each : *waiting)
      left.push_back(ledger->load({&each.number, 1})->front().name);
  }
  REQUIRE(left.size() <= 4);

  Scene next(folder);
  next.jobs->start();
  next.run_until(left.size());

  CHECK(next.engine.submitted() == left);
  CHECK(folder.complaint().find("in use") != std::string::npos);
}

TEST_CASE("a durable job is withdrawn wherever it is, and its verdict is written, too",
          "[service][durable]") {
  LedgerFolder folder;
  Scene scene(folder);
  scene.jobs->start();
  std::vector<int64_t> requests;
  for (int i = 0; i < 12; ++i) requests.push_back(scene.accept(job("hang")));
  scene.engine.await(1);

  for (int64_t request : requests) scene.jobs->withdraw(request);
  scene.run_until(12);

  CHECK(scene.count("\"label\":\"Cancelled\"") == 12);
  CHECK(scene.jobs->waiting() == 0);
}

TEST_CASE("at the end what has not run stays for the next service, and watchers are told so",
          "[service][durable]") {
  LedgerFolder folder;
  {
    Scene scene(folder);
    scene.jobs->start();
    for (int i = 0; i < 8; ++i) scene.accept(job("hang", R"(, "tag": )" + std::to_string(i)));
    scene.engine.await(1);

    scene.jobs->begin_end();
    scene.dispatcher->cancel_all();
    scene.run_until(8);

    CHECK(scene.count("left") == 8);
  }
  CHECK(folder.open()->waiting()->size() == 8);
}

TEST_CASE("a durable job that cannot start in time says so, wherever it waits",
          "[service][durable]") {
  LedgerFolder folder;
  Scene scene(folder);
  scene.engine.pause();
  scene.jobs->start();
  for (int i = 0; i < 8; ++i) {
    DurableRequest late = job("late");
    late.jobs.at(0).patience = sys::Milliseconds(1);
    scene.accept(late);
  }

  scene.run_until(8);

  CHECK(scene.count("could not be started in the time given") == 8);
}

TEST_CASE("a job whose template is gone is our fault, not its own", "[service][durable]") {
  LedgerFolder folder;
  Scene scene(folder);
  scene.jobs->start();
  scene.accept(job("1", R"(, "template": "gone", "tag": "t")"));

  scene.run_until(1);

  CHECK(scene.count("\"label\":\"SandboxError\"") == 1);
  CHECK(scene.count("\"tag\":\"t\"") == 1);
  CHECK(scene.count("\\\"gone\\\" is not known") == 1);
}

TEST_CASE("a ledger writer that cannot write keeps verdicts and tries again",
          "[service][durable]") {
  LedgerFolder folder;
  runtime::Loop loop;
  Deadlines deadlines(loop);
  std::shared_ptr<Ledger> ledger = folder.open();
  LedgerWriter ledger_writer(loop, deadlines, ledger, [] {});
  int64_t number = 0;
  ledger_writer.accept(job("1"), [&](sys::Result<Receipt> receipt) {
    number = receipt->waiting.at(0).number;
    loop.stop();
  });
  loop.run();

  std::optional<FullDisk> full(std::in_place);
  bool told = false, refused = false;
  ledger_writer.record({.number = number, .json = "verdict"}, [&](const VerdictEntry&) {
    told = true;
    loop.stop();
  });
  ledger_writer.accept(job("2"), [&](sys::Result<Receipt> receipt) {
    refused = !receipt.ok();
    loop.stop();
  });
  while (!refused) loop.run();
  CHECK_FALSE(told);
  CHECK(ledger_writer.unwritten() == 1);
  CHECK(ledger_writer.busy());

  full.reset();
  ledger_writer.read([](Ledger&) {}, [] {});
  while (!told) loop.run();
  CHECK(ledger_writer.unwritten() == 0);
  CHECK(ledger->verdicts(1, 0, 1)->front().json == "verdict");
  CHECK_FALSE(ledger->find("j-2", "a")->has_value());
}

}  // namespace service
