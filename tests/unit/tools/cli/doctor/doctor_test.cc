#include "tools/cli/doctor/doctor.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

namespace cli {
namespace {

// A default container, as root.
Checkup container() {
  Checkup checkup;
  checkup.location = {
      .place = sandbox::Place::kContainer, .engine = "docker", .root = true, .filtered = true};
  checkup.kernel = "6.1.0";
  checkup.python = "/usr/bin/python3";
  checkup.python_version = "3.11.2";
  const std::string cure = "docker run --security-opt seccomp=unconfined --cap-add SYS_ADMIN ...";
  for (const char* name : {"userns", "pidns", "mntns", "netns", "ipcns", "utsns"}) {
    checkup.layers.push_back({name, false, "unshare: Operation not permitted", cure, true});
  }
  for (const char* name : {"uid", "landlock", "seccomp", "seccomp.notify"}) {
    checkup.layers.push_back({name, true, "tried", "", true});
  }
  checkup.layers.push_back({"cgroup.memory", false, "\x1b[31mread-only", "--privileged", {}});
  checkup.own = sandbox::OwnFences{
      sandbox::Layers().with(sandbox::Layer::kCaps).with(sandbox::Layer::kNoNewPrivs),
      sandbox::Layers().with(sandbox::Layer::kCaps).with(sandbox::Layer::kLandlock)};
  return checkup;
}

size_t widest(const std::string& text) {
  size_t most = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) most = std::max(most, columns_of(line));
  return most;
}

}  // namespace

TEST_CASE("the level that would run is the best one, or the one asked for if it can",
          "[cli][doctor]") {
  Checkup checkup = container();
  CHECK(running_level(checkup) == sandbox::Level::kContained);
  checkup.asked = sandbox::Level::kMinimal;
  CHECK(running_level(checkup) == sandbox::Level::kMinimal);
  checkup.asked = sandbox::Level::kFull;
  CHECK(running_level(checkup) == std::nullopt);
  for (const auto& layer : checkup.layers) CHECK_FALSE(in_force(checkup, layer));
}

TEST_CASE("the table fits its width, wide or narrow, and keeps hostile bytes harmless",
          "[cli][doctor]") {
  size_t width = GENERATE(100u, 80u, 60u);
  std::string table = checkup_table(container(), Style(), width);
  INFO(table);
  CHECK(widest(table) <= width);
  CHECK(table.find('\x1b') == std::string::npos);
  CHECK(table.find("This host gives level contained.") == 0);
  CHECK(table.find("userns, pidns, mntns, netns, ipcns, utsns\n  seen: unshare") !=
        std::string::npos);
}

TEST_CASE("the JSON has every key that programs may rely on", "[cli][doctor]") {
  auto json = nlohmann::json::parse(checkup_json(container()));
  CHECK(json["level"] == "contained");
  CHECK(json["levels"]["full"]["missing"].size() == 6);
  CHECK(json["levels"]["contained"]["available"] == true);
  CHECK(json["layers"]["userns"]["kernel"] == true);
  CHECK(json["layers"]["userns"]["usable"] == false);
  CHECK(json["layers"]["uid"]["in_force"] == true);
  CHECK(json["layers"]["cgroup.memory"]["kernel"].is_null());
  CHECK(json["place"]["engine"] == "docker");
  CHECK(json["python"]["version"] == "3.11.2");
  CHECK(json["own"]["engine"] == nlohmann::json({"caps", "nnp"}));
  CHECK(json["own"]["front"] == nlohmann::json({"caps", "landlock"}));
}

TEST_CASE("what is required and not in force is named", "[cli][doctor]") {
  CommonOptions common;
  CHECK(unmet(container(), common).empty());
  common.required_level = sandbox::Level::kFull;
  common.required_layers = sandbox::Layers().with(sandbox::Layer::kNetNs);
  CHECK(unmet(container(), common) == "level full, layer netns");

  Checkup asked = container();
  asked.asked = sandbox::Level::kFull;
  CHECK(unmet(asked, {}) == "level full");
}

}  // namespace cli
