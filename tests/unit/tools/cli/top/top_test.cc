#include <catch2/catch.hpp>

#include "tools/cli/selfcheck/process.h"
#include "tools/cli/top/top_screen.h"

namespace cli {
namespace {

constexpr const char* kStats = R"({
  "version": "0.1.0", "level": "full", "state": "ready", "uptime_us": 3720000000,
  "now": {"queued": 12, "queue_limit": 1000, "running": 2, "workers": 4, "cells": 6, "templates": 2,
          "connections": 3, "held_bytes": 0, "resident_bytes": 20971520},
  "jobs": {"total": 12345, "ok": 12000,
           "labels": [{"label": "OK", "count": 12000}, {"label": "E\u001b[2J", "count": 345}]},
  "since_start": {"forks": 12400, "job_cpu_us": 5000000},
  "stages": [{"stage": "run", "p50_us": 900, "p90_us": 2500, "p99_us": 1200000}],
  "history": {"ended": [1, 400], "ok": [1, 390], "refused": [0, 7], "queued": [0, 12],
              "running": [1, 2], "p50_us": [800, 900], "p99_us": [900, 5000]},
  "failures": [{"time_ms": 1700000000000, "label": "TimeoutException", "id": "\u202eevil",
                "client": "ann", "detail": {"limit": "wall", "limit_ms": 100}}]})";

constexpr const char* kPilots = R"({
  "router": "r", "lease_ms": 10000, "workers": 6, "lost": 2, "restarts": 14, "doubles": 1,
  "pilots": [
    {"name": "node-1", "state": "ready", "level": "full", "workers": 4, "jobs": 9, "running": 4,
     "under_way": 30, "mean_us": 1234, "ended": 56789},
    {"name": "\u001b[2J\u202enode-2", "state": "draining", "level": "minimal", "workers": 2,
     "jobs": 1, "running": 7},
    {"name": "node-3", "state": "silent", "level": "full", "workers": 8},
    {"name": "node-4", "state": "new", "level": "full", "workers": 8}],
  "recently_lost": [
    {"name": "node-3", "time_ms": 1700000000000, "reason": "silent", "jobs": 5,
     "message": "it has said nothing\u001b[2J"},
    {"name": "node-0", "time_ms": 1600000000000, "reason": "disconnected", "jobs": 0,
     "message": "its connection has ended"}]})";

std::string joined(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  return all;
}

}  // namespace

TEST_CASE("the screen fits, and shows no control of a program's", "[cli][top]") {
  const auto stats = read_top_stats(kStats);
  REQUIRE(stats);
  for (const ScreenSize size : {ScreenSize{80, 24}, ScreenSize{40, 10}, ScreenSize{200, 60},
                                ScreenSize{1, 1}, ScreenSize{79, 2}}) {
    const auto lines = top_screen(*stats, "http://127.0.0.1:8000", "", size, Style());
    CHECK(lines.size() <= size.rows);
    for (const std::string& line : lines) CHECK(columns_of(line) <= size.columns);
    CHECK(joined(lines).find('\x1b') == std::string::npos);
    CHECK(joined(lines).find("\xe2\x80\xae") == std::string::npos);
  }
  const std::string screen = joined(top_screen(*stats, "here", "", {80, 24}, Style()));
  for (const char* words :
       {"zygo 0.1.0  here  ready  level full  up 1 h 02 min", "12,345 ended, 97.2 % OK, 400/s now",
        "7 refused", "12 of 1,000 wait", "2 of 4 busy", "6 cells, 2 templates, 12,400 forks",
        "TimeoutException", "wall limit 100 ms", "1.20 s", "▁█"}) {
    INFO(screen);
    CHECK(screen.find(words) != std::string::npos);
  }
  CHECK(joined(top_screen(*stats, "here", "no answer", {80, 24}, Style())).find("no answer") !=
        std::string::npos);
}

TEST_CASE("pilots are shown, those that want attention first", "[cli][top]") {
  auto stats = read_top_stats(kStats);
  auto pilots = read_top_pilots(kPilots);
  REQUIRE((stats && pilots));
  CHECK(pilots->count(TopPilots::State::kHere) ==
        2);  // a state that we do not know is none of ours
  CHECK(pilots->pilots[0].name == "node-3");
  CHECK(pilots->pilots[2].waiting == 5);
  CHECK(pilots->pilots[1].waiting == 0);
  stats->cluster = *pilots;
  const std::string screen = joined(top_screen(*stats, "here", "", {80, 40}, Style()));
  INFO(screen);
  for (const char* words : {"2 here, 1 draining, 1 silent; 2 lost lately, 14 jobs again",
                            "node-1               here     full", "4/4       5     56,789  1.23 ms",
                            "node-3               lost ", "draining minimal", "lost node-3",
                            "5 jobs, it has said nothing", "0 jobs, its connection has ended"})
    CHECK(screen.find(words) != std::string::npos);
  for (const char* control : {"\x1b", "\xe2\x80\xae"})
    CHECK(screen.find(control) == std::string::npos);
  for (size_t rows = 1; rows < 40; ++rows) {
    const auto lines = top_screen(*stats, "here", "", {30, rows}, Style());
    CHECK(lines.size() <= rows);
    for (const std::string& line : lines) CHECK(columns_of(line) <= 30);
  }
  CHECK(top_line(*stats).ends_with("       2        1        1"));
  CHECK(top_heading(*stats).size() == top_line(*stats).size());
}

TEST_CASE("many pilots leave room for what else there is", "[cli][top]") {
  auto stats = read_top_stats(kStats);
  REQUIRE(stats);
  stats->cluster.emplace();
  for (int i = 0; i < 500; ++i) stats->cluster->pilots.push_back({.name = std::to_string(i)});
  const std::string screen = joined(top_screen(*stats, "here", "", {80, 40}, Style()));
  INFO(screen);
  CHECK(screen.find("500 here") != std::string::npos);
  CHECK(screen.find(" more\n") != std::string::npos);
  CHECK(screen.find("TimeoutException") != std::string::npos);
}

TEST_CASE("statistics and pilots are one line of ASCII", "[cli][top]") {
  const auto both = json_with_pilots(kStats, kPilots);
  REQUIRE(both);
  CHECK(both->find("\"cluster\":{\"router\":\"r\"") != std::string::npos);
  CHECK(both->find("\\u202enode-2") != std::string::npos);
  for (const char c : *both) CHECK((c >= ' ' && c <= '~'));
  CHECK(json_with_pilots("{}", "{\"a\": \"\xff\"}").ok() == false);
  CHECK_FALSE(json_with_pilots("{", "{}"));
  CHECK_FALSE(json_with_pilots("{}", "[]"));
}

TEST_CASE("a router that says odd things of its pilots is read", "[cli][top]") {
  for (const char* odd :
       {"{}", R"({"pilots": 1, "recently_lost": {}})",
        R"({"pilots": [null, 1, {}, {"jobs": -1, "running": 1e300}], "lost": "x"})",
        R"({"recently_lost": [[], {"time_ms": 1e300, "name": 1}]})"}) {
    auto stats = read_top_stats("{}");
    auto pilots = read_top_pilots(odd);
    REQUIRE((stats && pilots));
    stats->cluster = *pilots;
    CHECK(top_screen(*stats, "", "", {80, 24}, Style()).size() <= 24);
  }
  CHECK_FALSE(read_top_pilots("[]"));
  CHECK_FALSE(read_top_pilots(std::string(100'000, '[')));
}

TEST_CASE("statistics that say nothing are shown as such", "[cli][top]") {
  for (const char* odd :
       {"{}", R"({"now": 1, "jobs": [], "history": {"ended": 7}})",
        R"({"failures": [null, 1, {}], "stages": [[]]})", R"({"jobs": {"total": -1e300}})"}) {
    const auto stats = read_top_stats(odd);
    REQUIRE(stats);
    CHECK(top_screen(*stats, "", "", {80, 24}, Style()).size() <= 24);
    CHECK_FALSE(top_line(*stats).empty());
  }
  CHECK_FALSE(read_top_stats("[]"));
  CHECK_FALSE(read_top_stats("{"));
  CHECK_FALSE(read_top_stats(std::string(100'000, '[')));
}

TEST_CASE("times are short", "[cli][top]") {
  CHECK(short_time(0) == "-");
  CHECK(short_time(999) == "999 us");
  CHECK(short_time(1234) == "1.23 ms");
  CHECK(short_time(56'789) == "57 ms");
  CHECK(short_time(4'560'000) == "4.56 s");
  CHECK(short_time(3'600'000'000) == "3600 s");
}

TEST_CASE("a selfcheck beside a service is told what the service was told", "[cli][selfcheck]") {
  CommonOptions common;
  common.level = sandbox::Level::kContained;
  common.required_level = sandbox::Level::kContained;
  common.preload = {"json", "decimal"};
  common.template_name = "mine";
  std::string all;
  for (const std::string& each : selfcheck_arguments(common)) all += each + " ";
  CHECK(all ==
        "zygo selfcheck --json --python /usr/bin/python3 --level contained --require contained "
        "--preload json,decimal --template mine ");
  common.preload.clear();
  common.template_name = "cpp";
  for (const std::string& each : selfcheck_arguments(common)) CHECK(each != "cpp");
}

}  // namespace cli
