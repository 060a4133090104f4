#include "cluster/router/fleet.h"

#include <catch2/catch.hpp>

#include "cluster/wire/messages.h"
#include "runtime/job/live_io.h"
#include "runtime/loop/loop.h"
#include "runtime/remote/job_wire.h"

namespace cluster {
namespace {

using runtime::Job;
using runtime::JobResult;
using runtime::Outcome;

// A pilot that keeps what it is sent.
struct FakePilot : PilotLink {
  struct Start {
    uint64_t number = 0;
    Job job;
  };
  std::vector<Start> starts;
  std::vector<uint64_t> withdrawn;
  Fleet::Pilot id = 0;

  void send(std::string_view message) override {
    runtime::WireReader in(message);
    Kind kind{};
    uint64_t number = 0;
    in(kind, number);
    if (kind == Kind::kWithdraw) return withdrawn.push_back(number);
    if (kind != Kind::kStart && kind != Kind::kStartPair) return;
    bool one_way = false;
    if (kind == Kind::kStartPair) in(one_way);
    for (int i = 0; i < (kind == Kind::kStartPair ? 2 : 1); ++i) {
      StartHead head;
      Start& start = starts.emplace_back();
      in(head);
      REQUIRE(runtime::read_job(in, start.job));
      start.number = head.number;
    }
    REQUIRE(in.at_end());
  }
};

Hello hello(unsigned workers = 2, std::vector<std::string> templates = {"python"}) {
  return {.name = "p",
          .zygo = "0.1.0",
          .workers = workers,
          .layers = sandbox::Layers::all().bits(),
          .templates = std::move(templates)};
}

JobResult ok(const std::string& text) {
  JobResult result;
  result.id = "forged";
  result.out.bytes = text;
  result.verdict.outcome = Outcome::kOk;
  return result;
}

struct House {
  std::vector<JobResult> results;
  Fleet fleet{{.seed = 1}};  // which ends what is left, into the results

  void enter(FakePilot& pilot, Hello said = hello()) {
    pilot.id = fleet.enter(std::move(said), "127.0.0.1", pilot);
  }
  std::shared_ptr<runtime::JobWatch> submit(const std::string& id, Job job = {}) {
    job.id = id;
    job.watch = std::make_shared<runtime::JobWatch>();
    const auto watch = job.watch;
    fleet.submit(std::move(job),
                 [this](JobResult result) { results.push_back(std::move(result)); });
    return watch;
  }
};

}  // namespace

TEST_CASE("jobs wait for the first pilot", "[cluster][fleet]") {
  House house;
  house.submit("a");
  CHECK(house.fleet.workers() == 0);
  FakePilot pilot;
  house.enter(pilot);
  CHECK(house.fleet.workers() == 2);
  REQUIRE(pilot.starts.size() == 1);
  CHECK(pilot.starts[0].job.id == "a");
  house.fleet.result(pilot.id, pilot.starts[0].number, true, ok("1"));
  REQUIRE(house.results.size() == 1);
  CHECK(house.results[0].id == "a");  // whatever the pilot says
  CHECK(house.results[0].out.bytes == "1");
}

TEST_CASE("what a lost pilot had starts at another", "[cluster][fleet]") {
  House house;
  FakePilot first, second;
  house.enter(first);
  const auto watch = house.submit("a");
  house.fleet.began(first.id, first.starts.at(0).number);
  CHECK(watch->has_started());
  house.enter(second);
  house.fleet.leave(first.id);
  REQUIRE(second.starts.size() == 1);
  CHECK(house.fleet.lost_pilots() == 1);
  house.fleet.result(second.id, second.starts[0].number, true, ok("1"));
  CHECK(house.results.size() == 1);
}

TEST_CASE("a verdict of a silent pilot counts if it is the first", "[cluster][fleet]") {
  House house;
  FakePilot first, second;
  house.enter(first);
  house.submit("a");
  house.enter(second);
  house.fleet.set_lapsed(first.id, true);
  REQUIRE(second.starts.size() == 1);
  house.fleet.set_lapsed(first.id, false);
  house.fleet.result(first.id, first.starts[0].number, true, ok("first"));
  REQUIRE(house.results.size() == 1);
  CHECK(house.results[0].out.bytes == "first");
  CHECK(second.withdrawn == std::vector<uint64_t>{second.starts[0].number});
  house.fleet.result(second.id, second.starts[0].number, true, ok("second"));
  CHECK(house.results.size() == 1);
  CHECK(house.fleet.assignments().doubles() == 1);
}

TEST_CASE("a pilot is not believed about what it was not given", "[cluster][fleet]") {
  House house;
  FakePilot honest, thief;
  house.enter(honest, hello(2));
  house.submit("a");
  house.enter(thief);
  const uint64_t number = honest.starts.at(0).number;
  house.fleet.result(thief.id, number, true, ok("forged"));
  house.fleet.began(thief.id, number);
  house.fleet.returned(thief.id, number);
  house.fleet.taken(thief.id, number, 1);
  house.fleet.news(thief.id, number, runtime::LiveIo::Stage::kRunning, "x", "");
  CHECK(house.results.empty());
  CHECK(thief.starts.empty());
  house.fleet.result(honest.id, number, true, ok("right"));
  REQUIRE(house.results.size() == 1);
  CHECK(house.results[0].out.bytes == "right");
}

TEST_CASE("a job that is withdrawn ends, wherever it is", "[cluster][fleet]") {
  House house;
  const auto waiting = house.submit("waiting");
  waiting->withdrawn = true;
  house.fleet.cancel_withdrawn();
  REQUIRE(house.results.size() == 1);
  CHECK(house.results[0].verdict.outcome == Outcome::kCancelled);

  FakePilot pilot;
  house.enter(pilot);
  const auto placed = house.submit("placed");
  placed->withdrawn = true;
  house.fleet.cancel_withdrawn();
  house.fleet.cancel_withdrawn();
  CHECK(pilot.withdrawn == std::vector<uint64_t>{pilot.starts.at(0).number});
  CHECK(house.results.size() == 1);  // the verdict is the pilot's
  house.fleet.leave(pilot.id);
  REQUIRE(house.results.size() == 2);
  CHECK(house.results[1].verdict.outcome == Outcome::kCancelled);
}

TEST_CASE("a job goes to a pilot that has its template and what it insists on",
          "[cluster][fleet]") {
  House house;
  FakePilot python, ruby, weak;
  Hello minimal = hello(64, {"python", "ruby"});
  minimal.level = static_cast<uint8_t>(sandbox::Level::kMinimal);
  house.enter(weak, minimal);
  house.enter(python, hello(2, {"python"}));
  house.enter(ruby, hello(2, {"ruby"}));
  Job job;
  job.template_name = "ruby";
  job.policy.require = {"full"};
  for (int i = 0; i < 2; ++i) house.submit("r", job);
  CHECK(ruby.starts.size() == 2);
  CHECK(house.fleet.has_template("ruby"));
  job.template_name = "nothing";  // somebody has to say so
  house.submit("n", job);
  CHECK(weak.starts.size() + python.starts.size() + ruby.starts.size() == 3);
}

TEST_CASE("what a pilot gives back goes to another, and not to it at once", "[cluster][fleet]") {
  House house;
  FakePilot full, free;
  house.enter(full);
  house.submit("a");
  house.fleet.returned(full.id, full.starts.at(0).number);
  CHECK(full.starts.size() == 1);
  house.enter(free);
  CHECK(free.starts.size() == 1);
  house.submit("b");
  house.fleet.set_draining(free.id);
  house.fleet.set_status(full.id, {});
  house.submit("c");
  CHECK(full.starts.size() == 2);
}

TEST_CASE("a job that ends its pilots is given up as our trouble", "[cluster][fleet]") {
  House house;
  house.submit("a");
  for (unsigned i = 0; i < Assignments::kMostLosses; ++i) {
    FakePilot pilot;
    house.enter(pilot);
    REQUIRE(pilot.starts.size() == 1);
    house.fleet.began(pilot.id, pilot.starts[0].number);
    house.fleet.leave(pilot.id);
  }
  REQUIRE(house.results.size() == 1);
  CHECK(house.results[0].verdict.outcome == Outcome::kSandboxError);
}

TEST_CASE("two sides of a conversation go to one pilot with two workers", "[cluster][fleet]") {
  House house;
  FakePilot small, large;
  house.enter(small, hello(1));
  house.enter(large, hello(2));
  Job first, second;
  first.id = "program";
  second.id = "interactor";
  const auto done = [&house](JobResult result) { house.results.push_back(std::move(result)); };
  house.fleet.submit_pair(first, done, second, done);
  CHECK(small.starts.empty());
  REQUIRE(large.starts.size() == 2);
  house.fleet.result(large.id, large.starts[0].number, true, ok("1"));
  house.fleet.leave(large.id);  // the other side cannot go on alone
  REQUIRE(house.results.size() == 2);
  CHECK(house.results[1].verdict.outcome == Outcome::kSandboxError);
}

TEST_CASE("a fleet that ends leaves no job without a verdict", "[cluster][fleet]") {
  House house;
  FakePilot pilot;
  house.enter(pilot);
  house.submit("a");
  house.submit("b");
  house.fleet.close();
  CHECK(house.results.size() == 2);
}

TEST_CASE("a live job does not begin again behind its caller's back", "[cluster][fleet]") {
  runtime::Loop loop;
  {
    House house;
    house.fleet.join(loop);
    FakePilot first, second;
    house.enter(first);
    Job job;
    auto live = runtime::LiveIo::create([] {});
    REQUIRE(live);
    job.live = *live;
    house.submit("a", job);
    const uint64_t number = first.starts.at(0).number;
    const auto spoken = [&] {
      house.fleet.news(first.id, number, runtime::LiveIo::Stage::kRunning, "hello", "");
    };
    SECTION("given back before it has begun: it begins elsewhere") {
      house.enter(second);
      house.fleet.returned(first.id, number);
      CHECK(second.starts.size() == 1);
      CHECK(house.results.empty());
    }
    SECTION("given back") {
      spoken();
      house.fleet.returned(first.id, number);
      REQUIRE(house.results.size() == 1);
      CHECK(house.results[0].verdict.outcome == Outcome::kSandboxError);
    }
    SECTION("silent: only one start of it speaks") {
      house.enter(second);
      house.fleet.set_lapsed(first.id, true);
      CHECK(second.starts.size() == 1);
      CHECK(first.withdrawn == std::vector<uint64_t>{number});
      house.fleet.set_lapsed(first.id, false);
      spoken();
      CHECK((*live)->take().out.empty());
    }
    SECTION("no more is told than its result may hold") {
      for (int i = 0; i < 3; ++i)
        house.fleet.news(first.id, number, runtime::LiveIo::Stage::kRunning,
                         std::string(size_t{3} << 20, 'x'), "");
      CHECK((*live)->take().out.size() == runtime::Limits{}.out.count);
    }
    house.fleet.close();
  }
}

TEST_CASE("the record of a job is the router's, not the pilot's", "[cluster][fleet]") {
  House house;
  FakePilot pilot;
  house.enter(pilot);
  house.submit("a");
  JobResult forged = ok("1");
  auto said = std::make_shared<runtime::RecordedJob>();
  said->json = "{}}}\n{\"id\":\"victim\"";
  forged.record = runtime::JobRecord{said, nullptr};
  SECTION("nobody asked for one") {
    house.fleet.result(pilot.id, pilot.starts.at(0).number, true, forged);
    REQUIRE(house.results.size() == 1);
    CHECK_FALSE(house.results[0].record);
  }
  SECTION("its caller did") {
    Job job;
    job.record = true;
    auto own = std::make_shared<runtime::RecordedJob>();
    own->json = "{}";
    job.recorded = own;
    house.submit("b", job);
    house.fleet.result(pilot.id, pilot.starts.at(1).number, true, forged);
    REQUIRE(house.results.size() == 1);
    REQUIRE(house.results[0].record);
    CHECK(house.results[0].record->job == own);
  }
}

TEST_CASE("a withdrawn job whose pilot says nothing of it is over after a while",
          "[cluster][fleet]") {
  House house;
  FakePilot pilot;
  house.enter(pilot);
  const auto watch = house.submit("a");
  watch->withdrawn = true;
  house.fleet.cancel_withdrawn();
  house.fleet.forget_withdrawn(sys::monotonic_now() - std::chrono::seconds(5));
  CHECK(house.results.empty());
  house.fleet.forget_withdrawn(sys::monotonic_now() + std::chrono::seconds(5));
  REQUIRE(house.results.size() == 1);
  CHECK(house.results[0].verdict.outcome == Outcome::kCancelled);
}

TEST_CASE("a job that waits is not placed twice", "[cluster][fleet]") {
  House house;
  FakePilot first, second;
  house.enter(first);
  house.submit("a");
  const uint64_t number = first.starts.at(0).number;
  house.fleet.set_lapsed(first.id, true);  // it waits
  house.fleet.returned(first.id, number);  // and is given back, too
  house.enter(second);
  CHECK(second.starts.size() == 1);
  house.fleet.result(second.id, second.starts[0].number, true, ok("1"));
  CHECK(house.results.size() == 1);
}

}  // namespace cluster
