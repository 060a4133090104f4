// Tests of a pilot's place with a router whose messages a test makes.
#include "cluster/pilot/enrolment.h"

#include <catch2/catch.hpp>
#include <optional>

#include "cluster/router/start_message.h"
#include "runtime/remote/job_wire.h"
#include "tests/unit/cluster/link/router_end.h"

namespace cluster {
namespace {

const std::string kTraceId = "4bf92f3577b34da6a3ce929d0e0e4736";

// Has an OK for each job at once.
class QuickEngine : public runtime::Engine {
 public:
  void submit(runtime::Job job, std::function<void(runtime::JobResult)> done) override {
    runtime::JobResult result;
    result.id = job.id;
    result.verdict.outcome = runtime::Outcome::kOk;
    job.watch->begin();
    done(std::move(result));
  }
  unsigned workers() const override { return 2; }
  void cancel_all() override {}
  void cancel_withdrawn() override {}
  Standing standing() const override { return {}; }
};

struct Traced {
  std::string id, label, trace_id, parent_id;
};

struct Place {
  runtime::Loop loop;
  QuickEngine engine;
  service::Deadlines deadlines{loop};
  service::Allowance held{size_t{1} << 30};
  StreamPair pair = stream_pair();
  std::optional<RouterEnd> router;
  std::vector<Traced> traced;
  std::vector<std::string> troubles;
  std::string heard;  // frames of the pilot, one after the other
  Enrolment enrolment;

  Place() : router(std::move(pair.theirs)), enrolment(house()) { enrolment.start(); }

  Enrolment::House house() {
    return {.engine = engine,
            .loop = loop,
            .deadlines = deadlines,
            .held = held,
            .hello = [] { return Hello{.name = "p", .zygo = "0.1.0", .workers = 2}; },
            .status = [] { return Status{}; },
            .dial = [this]() -> sys::Result<sys::OwnedFd> {
              if (!pair.ours) return sys::Error::because("the router is away");
              return std::move(pair.ours);
            },
            .link =
                [this](sys::OwnedFd socket, LinkListener& listener) {
                  return Link::start(loop, std::move(socket), {.host = "router", .port = 80}, "",
                                     listener, {});
                },
            .has_room = [] { return true; },
            .ended = [](const runtime::JobResult&) {},
            .log = [](const std::string&) {},
            .trouble = [this](const std::string& line) { troubles.push_back(line); },
            .rested = [] {},
            .router = "http://router",
            .traced =
                [this](const service::RoutedJob& job) {
                  traced.push_back(
                      {std::string(job.id), job.label, job.trace.trace_id, job.trace.parent_id});
                }};
  }

  void join(uint16_t version) {
    std::string asked;
    turn_until(loop, [&] { return (asked += router->take()).ends_with("\r\n\r\n"); });
    router->say(router->answer_to(asked));
    hear(Kind::kHello);
    runtime::WireWriter welcome = message(Kind::kWelcome);
    welcome(Welcome{.version = version, .router = "r", .lease_ms = 600'000});
    say(welcome);
  }

  void say(const runtime::WireWriter& message) {
    FrameWriter frames;
    frames.add(message.bytes());
    router->frames.send_bytes(frames.take());
    router->say(router->frames.take_output());
  }

  // Until it has said this.
  void hear(Kind kind) {
    turn_until(loop, [&] { return !troubles.empty() || has_heard(kind); });
    REQUIRE(troubles.empty());
  }
  bool has_heard(Kind kind) {
    for (const std::string& bytes : router->hear()) heard += bytes;
    FrameReader frames(heard);
    while (const auto frame = frames.next()) {
      if (static_cast<Kind>(frame->front()) == kind) return true;
    }
    return false;
  }

  runtime::WireWriter start(uint16_t version) {
    runtime::Job job;
    job.id = "a";
    job.source = "print(1)";
    job.watch = std::make_shared<runtime::JobWatch>();
    job.watch->trace = "00-" + kTraceId + "-00f067aa0ba902b7-01";
    runtime::WireWriter out = message(Kind::kStart);
    write_start(1, job, version, out);
    return out;
  }
};

}  // namespace

TEST_CASE("a pilot tells of a job by the trace that its router sends", "[cluster][trace]") {
  Place place;
  place.join(kTraceVersion);
  place.say(place.start(kTraceVersion));
  place.hear(Kind::kResult);
  REQUIRE(place.traced.size() == 1);
  CHECK(place.traced[0].id == "a");
  CHECK(place.traced[0].label == "OK");
  CHECK(place.traced[0].trace_id == kTraceId);
  CHECK(place.traced[0].parent_id == "00f067aa0ba902b7");
}

TEST_CASE("a pilot runs the jobs of a router that speaks version 1", "[cluster][trace]") {
  Place place;
  place.join(1);
  place.say(place.start(1));
  place.hear(Kind::kResult);
  CHECK(place.traced.empty());
  CHECK(place.troubles.empty());
}

TEST_CASE("a trace in version 1 is no message of a router", "[cluster][trace]") {
  Place place;
  place.join(1);
  place.say(place.start(kTraceVersion));
  turn_until(place.loop, [&] { return !place.troubles.empty() || place.has_heard(Kind::kResult); });
  REQUIRE_FALSE(place.troubles.empty());
  CHECK(place.troubles.front().find("no message of a router") != std::string::npos);
}

}  // namespace cluster
