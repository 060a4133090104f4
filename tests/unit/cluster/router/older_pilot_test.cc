// Tests of the fleet with a pilot of version 1. Its bytes were recorded: tests/data/cluster has
// them, and tests/behaviour/cluster sends them to a real router.
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cluster/router/fleet.h"
#include "cluster/wire/messages.h"
#include "runtime/remote/job_wire.h"

namespace cluster {
namespace {

// One message, without the length of its frame.
std::string recorded(const char* name) {
  std::ifstream file(ZYGO_SOURCE_DIR "/tests/data/cluster/version_1.json");
  const std::string hex = nlohmann::json::parse(file).at(name);
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

struct KeepingLink : PilotLink {
  std::vector<std::string> messages;
  void send(std::string_view message) override { messages.emplace_back(message); }
};

// What follows the kind and the number, as the router reads it.
template <typename T>
T read(const std::string& bytes, Kind expected) {
  runtime::WireReader in(bytes);
  Kind kind{};
  uint64_t number = 0;
  T value;
  in(kind, number, value);
  REQUIRE(in.ok());
  REQUIRE(kind == expected);
  return value;
}

runtime::Job recorded_job(const std::string& start) {
  runtime::WireReader in(start);
  Kind kind{};
  uint64_t number = 0;
  StartHead head;
  runtime::Job job;
  in(kind, number, head);
  REQUIRE(kind == Kind::kStart);
  REQUIRE(head.number == 1);
  REQUIRE(runtime::read_job(in, job));
  REQUIRE(in.at_end());
  return job;
}

}  // namespace

TEST_CASE("a pilot of version 1 gets what it was sent before there were traces, and is believed",
          "[cluster][fleet][trace]") {
  Fleet fleet({.seed = 1});
  KeepingLink link;
  const Hello hello = read<Hello>(recorded("hello"), Kind::kHello);
  REQUIRE(hello.newest == 1);
  REQUIRE(objection_to(hello).empty());
  CHECK(common_version(hello.oldest, hello.newest) == 1);
  const Fleet::Pilot pilot = fleet.enter(hello, "127.0.0.1", link);
  fleet.set_status(pilot, read<Status>(recorded("status"), Kind::kStatus));

  const std::string start = recorded("start");
  runtime::Job job = recorded_job(start);
  job.watch->trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  std::vector<runtime::JobResult> results;
  fleet.submit(std::move(job), [&](runtime::JobResult result) { results.push_back(result); });
  CHECK(link.messages == std::vector<std::string>{start});

  const auto begun = read<std::vector<uint64_t>>(recorded("began"), Kind::kBegan);
  CHECK(begun == std::vector<uint64_t>{1});
  fleet.began(pilot, begun.front());
  const std::string end = recorded("result");
  runtime::WireReader in(end);
  Kind kind{};
  uint64_t number = 0;
  bool started = false;
  runtime::JobResult result;
  in(kind, number, started);
  REQUIRE(runtime::read_result(in, result));
  REQUIRE(in.at_end());
  fleet.result(pilot, number, started, std::move(result));
  REQUIRE(results.size() == 1);
  CHECK(results[0].verdict.outcome == runtime::Outcome::kOk);
  CHECK(results[0].out.bytes == "42\n");
}

}  // namespace cluster
