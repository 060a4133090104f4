#include "service/apis/e2b/commands.h"

#include <catch2/catch.hpp>

namespace service::e2b {

using nlohmann::json;

namespace {

Commands::CommandPtr command_of(const char* program) {
  return std::make_shared<Commands::Command>(
      Commands::Command{.order = {{"program", program},
                                  {"arguments", {"-c"}},
                                  {"variables", {{"A", "b"}}},
                                  {"directory", "/tmp"}}});
}

}  // namespace

TEST_CASE("a command has a number while it runs", "[apis][e2b]") {
  Commands commands;
  const auto first = command_of("sh"), second = command_of("ls");
  commands.begin("s", first);
  CHECK(commands.find("s", first->number) == first);
  CHECK(commands.find("t", first->number) == nullptr);
  CHECK(json::parse(commands.list("s")) ==
        json{{"processes",
              {{{"config",
                 {{"cmd", "sh"}, {"args", {"-c"}}, {"envs", {{"A", "b"}}}, {"cwd", "/tmp"}}},
                {"pid", first->number}}}}});
  CHECK(json::parse(commands.list("t")) == json{{"processes", json::array()}});
  commands.begin("s", second);
  commands.end("s", first);  // was told late
  CHECK(commands.find("s", first->number) == nullptr);
  CHECK(commands.find("s", second->number) == second);
  commands.end("s", second);
  CHECK(commands.find("s", second->number) == nullptr);
}

TEST_CASE("a signal names a process, and ends it", "[apis][e2b]") {
  for (const json& signal : {json("SIGNAL_SIGKILL"), json("SIGNAL_SIGTERM"), json(9), json(15)}) {
    const json message = {{"process", {{"pid", 7}}}, {"signal", signal}};
    CHECK(std::get<uint64_t>(read_signal(message.dump())) == 7);
  }
  const json other = {{"process", {{"pid", "7"}, {"tag", nullptr}}}, {"signal", 9}};
  CHECK(std::get<uint64_t>(read_signal(other.dump())) == 7);
  const auto refused = [](const json& message) {
    return std::string(std::get<RpcError>(read_signal(message.dump())).code);
  };
  CHECK(refused({{"process", {{"pid", 7}}}, {"signal", "SIGNAL_UNSPECIFIED"}}) ==
        "invalid_argument");
  for (const char* wrong : {"", "7a", "-7", " 7"})
    CHECK(refused({{"process", {{"pid", wrong}}}, {"signal", 9}}) == "invalid_argument");
  CHECK(refused({{"process", {{"pid", -7}}}, {"signal", 9}}) == "invalid_argument");
  CHECK(refused({{"signal", 9}}) == "invalid_argument");
  CHECK(refused(json::array()) == "invalid_argument");
  CHECK(refused({{"process", {{"tag", "a"}}}, {"signal", 9}}) == "not_found");
}

}  // namespace service::e2b
