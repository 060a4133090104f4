// A scaler with a router and an engine of the test's own.

#include "cluster/scale/scaler.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace cluster {
namespace {

using std::chrono::seconds;
using sys::Error;
using sys::Result;
using Words = std::vector<std::string>;

struct Bench {
  RouterView view;
  std::string queue;
  std::vector<Words> asked;  // but for the queue
  std::vector<std::string> inputs;
  std::string engine_trouble, router_trouble;

  Scaler scaler(Scaler::Options options) {
    options.name = "pilots";
    return {{.router = [this]() -> Result<RouterView> {
               if (!router_trouble.empty()) return Error::because(router_trouble);
               return view;
             },
             .run = [this](const EngineCommand& command) -> Result<std::string> {
               if (!engine_trouble.empty()) return Error::because(engine_trouble);
               if (command.argv.front() == "squeue") return queue;
               asked.push_back(command.argv);
               inputs.push_back(command.input);
               return std::string("1\n");
             },
             .printed = [](unsigned pilots) { return "so many: " + std::to_string(pilots); }},
            std::move(options)};
  }
};

sys::Nanoseconds at(int64_t s) { return seconds(1000 + s); }

}  // namespace

TEST_CASE("scaler: what waits is asked for, as it is printed", "[scaler]") {
  Bench bench;
  bench.view.wait = seconds(60);
  Scaler scaler = bench.scaler({.directives = {"partition=short"}, .limits = {.most = 9}});
  const Scaler::Report report = scaler.look(at(0));
  CHECK((report.step.more == 1 && report.trouble.empty()));
  REQUIRE(bench.asked.size() == 1);
  CHECK(bench.asked[0] == Words{"sbatch", "--parsable", "--job-name=pilots", "--partition=short"});
  CHECK(bench.inputs[0] == "so many: 1");
}

TEST_CASE("scaler: a pilot counts as joined if it is in one of the slots", "[scaler]") {
  Bench bench;
  bench.queue = "5_1|RUNNING|None\n5_2|RUNNING|None\n5_3|PENDING|Priority\n";
  bench.view.pilots = {{"slurm-5_1", 4, 2}, {"slurm-6_1", 8, 3}};
  const Scaler::Report report = bench.scaler({.limits = {.most = 9}}).look(at(0));
  CHECK((report.look.running == 2 && report.look.joined == 1 && report.look.waiting == 1));
  CHECK((report.look.workers == 12 && report.look.under_way == 5));
  CHECK(report.waits == "Priority");
}

TEST_CASE("scaler: the last that wait are recalled, and who has least to do retires", "[scaler]") {
  Bench bench;
  bench.queue =
      "5_1|RUNNING|None\n5_2|RUNNING|None\n5_3|RUNNING|None\n6_1|PENDING|x\n6_2|PENDING|x\n";
  bench.view.pilots = {{"slurm-5_1", 4, 0}, {"slurm-5_2", 4, 7}, {"slurm-5_3", 4, 1}};
  Scaler scaler = bench.scaler({.limits = {.most = 1}});
  CHECK(scaler.look(at(0)).step == ScaleStep{.recall = 2, .retire = 2});
  REQUIRE(bench.asked.size() == 1);
  CHECK(bench.asked[0] == Words{"scancel", "6_2", "6_1", "5_1", "5_3"});
}

TEST_CASE("scaler: where the router or the engine says nothing, nothing is changed", "[scaler]") {
  Bench bench;
  bench.queue = "5_1|RUNNING|None\n";
  bench.router_trouble = "no route to host";
  Scaler scaler = bench.scaler({.limits = {.least = 3, .most = 9}});
  Scaler::Report report = scaler.look(at(0));
  CHECK((report.trouble == "no route to host" && report.look.running == 1));
  bench.engine_trouble = "squeue ended with status 1";
  report = scaler.look(at(1));
  CHECK((report.trouble == "squeue ended with status 1" && report.step == ScaleStep{}));
  CHECK(bench.asked.empty());
  CHECK_FALSE(scaler.end());
}

TEST_CASE("scaler: who only says what it would do asks for nothing", "[scaler]") {
  Bench bench;
  Scaler scaler = bench.scaler({.limits = {.least = 3, .most = 9}, .only_says = true});
  CHECK(scaler.look(at(0)).step.more == 3);
  CHECK(bench.asked.empty());
}

TEST_CASE("scaler: at the end all are cancelled, until there are none", "[scaler]") {
  Bench bench;
  for (int i = 0; i < 501; ++i) bench.queue += std::to_string(i) + "|RUNNING|None\n";
  Scaler scaler = bench.scaler({.limits = {.most = 9}});
  CHECK(*scaler.end() == 501);
  REQUIRE(bench.asked.size() == 2);
  CHECK((bench.asked[0].size() == 501 && bench.asked[1] == Words{"scancel", "500"}));
  bench.queue = "";
  CHECK(*scaler.end() == 0);
  CHECK(bench.asked.size() == 2);
}

TEST_CASE("router view: what scaling reads of GET /v1/pilots", "[scaler]") {
  const auto view = parse_router_view(
      R"({"estimated_wait_ms": 1500, "pilots": [
          {"name": "a", "state": "ready", "workers": 4, "under_way": 9},
          {"name": "b", "state": "draining", "workers": 4, "under_way": 2}]})");
  REQUIRE(view);
  CHECK(view->wait == seconds(1) + std::chrono::milliseconds(500));
  REQUIRE(view->pilots.size() == 1);
  CHECK((view->pilots[0].name == "a" && view->pilots[0].workers == 4 &&
         view->pilots[0].under_way == 9));
}

TEST_CASE("router view: an error names the field", "[scaler]") {
  const std::map<std::string, std::string> wrong{
      {"nothing", "expected a JSON object"},
      {R"({"pilots": []})",
       "estimated_wait_ms: expected a whole number, of a router of this version"},
      {R"({"estimated_wait_ms": -1, "pilots": []})",
       "estimated_wait_ms: expected a whole number, of a router of this version"},
      {R"({"estimated_wait_ms": 1})", "pilots: expected an array"},
      {R"({"estimated_wait_ms": 1, "pilots": [3]})",
       "pilots: expected objects with the strings name and state"},
      {R"({"estimated_wait_ms": 1, "pilots": [{"name": "a", "state": "ready", "workers": 1.5}]})",
       "pilots: workers and under_way: expected whole numbers"}};
  for (const auto& [text, why] : wrong) {
    const auto view = parse_router_view(text);
    REQUIRE_FALSE(view);
    CHECK(view.error().text() == why);
  }
}

}  // namespace cluster
