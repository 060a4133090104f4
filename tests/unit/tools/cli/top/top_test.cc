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
