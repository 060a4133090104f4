#include "tools/cli/kernel/connection_file.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace {

nlohmann::json connection() {
  return {{"transport", "tcp"}, {"ip", "127.0.0.1"},
          {"key", "secret"},    {"signature_scheme", "hmac-sha256"},
          {"shell_port", 1},    {"iopub_port", 2},
          {"stdin_port", 3},    {"control_port", 4},
          {"hb_port", 65535}};
}

}  // namespace

TEST_CASE("a connection file says where each channel listens", "[jupyter]") {
  auto file = cli::parse_connection_file(connection().dump());
  REQUIRE(file);
  CHECK(file->key == "secret");
  CHECK(file->endpoints == std::array<std::string, cli::kChannels>{
                               "tcp://127.0.0.1:1", "tcp://127.0.0.1:2", "tcp://127.0.0.1:3",
                               "tcp://127.0.0.1:4", "tcp://127.0.0.1:65535"});
}

TEST_CASE("the sockets of ipc are files whose names end with the number of a port", "[jupyter]") {
  nlohmann::json of_files = connection();
  of_files["transport"] = "ipc";
  of_files["ip"] = "/run/user/0/kernel";
  CHECK(cli::parse_connection_file(of_files.dump())->endpoints[0] == "ipc:///run/user/0/kernel-1");
}

TEST_CASE("a connection file that would let anybody in, or says too little, is refused",
          "[jupyter]") {
  const auto refusal = [](const char* name, const nlohmann::json& value) {
    nlohmann::json changed = connection();
    changed[name] = value;
    const auto file = cli::parse_connection_file(changed.dump());
    return file ? std::string("taken") : file.error().text();
  };
  CHECK(refusal("key", "") == "has no key");
  CHECK(refusal("signature_scheme", "hmac-md5") ==
        "signature_scheme is \"hmac-md5\"; only hmac-sha256 is known");
  CHECK(refusal("transport", "udp") == "transport is \"udp\", not tcp or ipc");
  CHECK(refusal("ip", nullptr) == "has no ip");
  CHECK(refusal("shell_port", 0) == "shell_port is no port");
  CHECK(refusal("hb_port", 65536) == "hb_port is no port");
  CHECK(cli::parse_connection_file("[]").error().text() == "is not an object of JSON");
}
