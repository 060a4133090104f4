#include "service/apis/native/async_results.h"

#include <catch2/catch.hpp>

#include "service/apis/native/job_keys.h"

namespace service {
namespace {

// Results of one service, each of a job with a key of the same name.
struct Scene {
  runtime::Loop loop;
  Deadlines deadlines{loop};
  JobKeys keys;
  AsyncResults results;

  explicit Scene(AsyncResults::Options options = {}) : results(deadlines, options) {}
  void begin(const std::string& id, const std::string& client = "ann") {
    results.begin(id, client, keys.take(client, id, {.digest = "", .job = id, .held = nullptr}));
  }
  void end(const std::string& id, const std::string& json, bool expired = false) {
    Finished finished;
    finished.json = json;
    finished.expired = expired;
    results.end(id, std::move(finished));
  }
  bool has(const std::string& id, const std::string& client = "ann") const {
    const bool known = keys.find(client, id) != nullptr;
    CHECK(known == (results.find(id, client) != nullptr));  // a key is there with its result
    return known;
  }
  // What is due now, and what comes `later`, has happened.
  void settle(sys::Milliseconds later = sys::Milliseconds(0)) {
    deadlines.at(sys::monotonic_now() + later, [this] { loop.stop(); });
    loop.run();
  }
};

}  // namespace

TEST_CASE("a result is its client's, and is forgotten with its key when its time is over",
          "[service][async]") {
  const sys::Milliseconds keep(5);
  Scene scene({.keep = keep});
  scene.begin("j-1");
  CHECK(scene.results.find("j-1", "bob") == nullptr);
  CHECK_FALSE(scene.results.find("j-1", "ann")->ended);
  scene.settle(2 * keep);
  CHECK(scene.has("j-1"));  // it has not ended

  scene.end("j-1", "verdict");
  CHECK(scene.results.find("j-1", "ann")->json == "verdict");
  CHECK(scene.has("j-1"));
  scene.settle(keep);

  CHECK_FALSE(scene.has("j-1"));
}

TEST_CASE("of too many results the oldest of who has most leave, and their keys with them",
          "[service][async]") {
  Scene scene({.most = 2});
  scene.begin("j-1");
  scene.begin("j-2");
  scene.begin("j-3", "bob");
  scene.begin("j-4");
  scene.end("j-3", "verdict");
  scene.end("j-1", "verdict");
  scene.end("j-2", "verdict");
  scene.settle();

  CHECK_FALSE(scene.has("j-1"));
  CHECK(scene.has("j-2"));
  CHECK(scene.has("j-3", "bob"));
  CHECK(scene.has("j-4"));  // it runs
}

TEST_CASE("results that are too long together leave with their keys, but for the last one",
          "[service][async]") {
  Scene scene({.most_bytes = 10});
  for (const char* id : {"j-1", "j-2", "j-3"}) scene.begin(id);
  scene.end("j-1", "12345");
  scene.end("j-2", "12345");
  scene.settle();
  CHECK(scene.has("j-1"));

  scene.end("j-3", std::string(100, 'x'));
  scene.settle();

  CHECK_FALSE(scene.has("j-1"));
  CHECK_FALSE(scene.has("j-2"));
  CHECK(scene.has("j-3"));
}

TEST_CASE("a job without a verdict gives its key back: one that was refused, or came too late",
          "[service][async]") {
  Scene scene;
  scene.begin("refused");
  scene.results.drop("refused");
  CHECK_FALSE(scene.has("refused"));

  scene.begin("late");
  bool free_when_told = false;
  scene.results.wait("late", std::nullopt, [&](const AsyncResults::Job& job) {
    free_when_told = job.expired && !scene.keys.find("ann", "late");
  });
  scene.end("late", "cancelled", true);

  CHECK(free_when_told);
  CHECK(scene.keys.size() == 0);
  CHECK(scene.results.find("late", "ann") != nullptr);  // for whoever has its id
}

TEST_CASE("everybody who waits for a result is told once, at its end or when the wait is over",
          "[service][async]") {
  Scene scene;
  scene.begin("j-1");
  std::vector<std::string> told;
  const auto note = [&told](const char* who) {
    return [&told, who](const AsyncResults::Job& job) { told.push_back(who + job.json); };
  };
  scene.results.wait("j-1", std::nullopt, note("a "));
  scene.results.wait("j-1", sys::Milliseconds(1), note("b "));
  scene.settle(sys::Milliseconds(1));
  CHECK(told == std::vector<std::string>{"b "});

  scene.end("j-1", "verdict");
  CHECK(scene.results.wait("j-1", std::nullopt, note("c ")) == 0);
  scene.settle();

  CHECK(told == std::vector<std::string>{"b ", "a verdict", "c verdict"});
}

TEST_CASE("a client that leaves is not kept until the end of the job that it waited for",
          "[service][async]") {
  Scene scene;
  scene.begin("j-1");
  auto client = std::make_shared<int>();
  const std::weak_ptr<int> there = client;
  const auto waiting =
      scene.results.wait("j-1", sys::Milliseconds(1),
                         [client = std::move(client)](const AsyncResults::Job&) { FAIL(); });

  scene.results.leave("j-1", waiting);

  CHECK(there.expired());
  scene.settle(sys::Milliseconds(1));
  scene.end("j-1", "verdict");
  scene.results.leave("j-1", waiting);  // changes nothing
  scene.results.leave("j-none", waiting);
}

}  // namespace service
