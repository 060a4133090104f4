#include "tools/cli/cluster/pilot.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace cli {
namespace {

cluster::Slot slot(unsigned cpus, std::optional<sys::Bytes> memory = {}) {
  cluster::Slot made;
  made.cpus = cpus;
  made.memory = memory;
  return made;
}

std::string sentence_of(const PilotOptions& options) {
  const auto plan = plan_pilot(options);
  const auto* refusal = std::get_if<Refusal>(&plan);
  return refusal ? refusal->sentence : "";
}

}  // namespace

TEST_CASE("a pilot offers no more than its slot has", "[cluster][pilot]") {
  CHECK(workers_in(slot(8), 8, 0) == 0);  // the whole host: as many as usual
  CHECK(workers_in(slot(1), 8, 0) == 2);
  CHECK(workers_in(slot(4), 8, 3) == 3);
  CHECK(workers_in(slot(1), 8, 16) == 2);
  CHECK(workers_in(slot(1, sys::mebibytes(1000)), 8, 0) == 1);
  CHECK(workers_in(slot(1, sys::mebibytes(64)), 8, 0) == 1);
  CHECK(workers_in(slot(4, sys::mebibytes(2400)), 4, 0) == 4);
  CHECK(workers_in(slot(4, sys::mebibytes(1 << 20)), 4, 0) == 0);
}

TEST_CASE("what a pilot's options name is read, or it is said what is wrong", "[cluster][pilot]") {
  PilotOptions options;
  options.join = {"http://router:8000"};
  CHECK(sentence_of(options).empty());
  options.join.emplace_back("ftp://router");
  CHECK(sentence_of(options).starts_with("--join: "));
  options.join = {"http://router:8000", "http://router:8000"};
  CHECK(sentence_of(options) == "--join: http://router:8000 is there twice");
  options.join.pop_back();
  options.token_file = "/nowhere";
  CHECK(sentence_of(options).starts_with("--token-file: "));
  const std::string path = std::filesystem::temp_directory_path() / "zygo-pilot-token";
  options.token_file = path;
  const auto written = [&](const std::string& text) {
    std::ofstream(path) << text;
    return sentence_of(options);
  };
  CHECK(written("0123456789abcdef\r\nmore\n").empty());
  CHECK(std::get<PilotPlan>(plan_pilot(options)).token == "0123456789abcdef");
  CHECK(written("\n").starts_with("--token-file: "));
  CHECK(written("two words\n").starts_with("--token-file: "));
  CHECK_FALSE(written("secret\tsecret").find("secret\t") != std::string::npos);
  std::filesystem::remove(path);
}

TEST_CASE("the slot says what the command line does not", "[cluster][pilot]") {
  cluster::Slot from;
  from.engine = cluster::Engine::kSlurm;
  from.name = "slurm-7-0";
  from.end = cluster::EpochTime(std::chrono::seconds(1'900'000'000));
  const PilotOptions settled = settle({}, from);
  CHECK(settled.name == "slurm-7-0");
  CHECK(settled.engine == "slurm");
  CHECK(settled.until == 1'900'000'000);
  CHECK(std::string(std::getenv("ZYGO_UNTIL")) == "1900000000");  // of the process without rights
  PilotOptions said;
  said.name = "mine";
  said.until = 5;
  CHECK(settle(said, from).name == "mine");
  CHECK(settle(said, from).until == 5);
  for (const char* each : {"ZYGO_NAME", "ZYGO_ENGINE", "ZYGO_UNTIL"}) ::unsetenv(each);
}

}  // namespace cli
