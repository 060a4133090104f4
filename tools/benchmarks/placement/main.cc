// zygo-placement-bench: the router's choice of pilots in virtual time, beside other ways to choose.

#include <fmt/format.h>
#include <getopt.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/benchmarks/placement/policies.h"
#include "tools/benchmarks/placement/simulation.h"
#include "tools/benchmarks/placement/world.h"

namespace {

using namespace placement_bench;

constexpr const char* kHelp =
    "usage: zygo-placement-bench [--pilots N] [--jobs N] [--load SHARE] [--seed N] [--json]\n"
    "\n"
    "Chooses a pilot for each job in virtual time, as `zygo route` does, by chance, in turn, and "
    "with\n"
    "one queue for all; prints how long jobs waited and how evenly pilots worked.\n"
    "\n"
    "  --pilots N    of unequal speed, 2 to 16 workers each; 1 % ten times slower, 1 % lost "
    "(10000)\n"
    "  --jobs N      in bursts of 32 to 4096 (10000000)\n"
    "  --load SHARE  work that arrives, of what the pilots can do, above 0 and below 1 (0.85)\n"
    "  --seed N      of the world and the draws (1)\n"
    "  --json        one JSON object instead of the table\n"
    "\n"
    "example: zygo-placement-bench --pilots 1000 --jobs 200000 --load 0.95\n";

template <class Number>
bool read(const char* text, Number least, Number most, Number& value) {
  const char* end = text + std::strlen(text);
  const auto [behind, error] = std::from_chars(text, end, value);
  return error == std::errc() && behind == end && value >= least && value <= most;
}

// False: what is wrong has been said.
bool parse(int argc, char** argv, Setting& setting, bool& json) {
  const option known[] = {
      {"pilots", required_argument, nullptr, 'p'}, {"jobs", required_argument, nullptr, 'j'},
      {"load", required_argument, nullptr, 'l'},   {"seed", required_argument, nullptr, 's'},
      {"json", no_argument, nullptr, 'J'},         {}};
  int which = 0;
  for (int c = 0; (c = ::getopt_long(argc, argv, "", known, &which)) != -1;) {
    bool fits = true;
    if (c == 'p') fits = read(optarg, 1u, 1'000'000u, setting.pilots);
    if (c == 'j') fits = read(optarg, size_t{1}, size_t{100'000'000}, setting.jobs);
    if (c == 'l') fits = read(optarg, 0.01, 0.99, setting.load);
    if (c == 's') fits = read(optarg, uint64_t{0}, ~uint64_t{0}, setting.seed);
    if (c == 'J') json = true;
    if (c == '?') return false;
    if (fits) continue;
    fmt::print(stderr, "zygo-placement-bench: --{}: a number in its range was expected, not {}\n",
               known[which].name, optarg);
    return false;
  }
  if (optind == argc) return true;
  fmt::print(stderr, "zygo-placement-bench: {}: no argument was expected\n", argv[optind]);
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--help") return std::fputs(kHelp, stdout) < 0;
  Setting setting;
  bool json = false;
  if (!parse(argc, argv, setting, json)) return 2;
  const World world = make_world(setting);
  nlohmann::ordered_json all;
  if (!json)
    fmt::print("{:<12} {:>10} {:>10} {:>10} {:>10} {:>10} {:>9}\n", "", "wait p50", "p99", "mean",
               "longest", "imbalance", "restarts");
  for (auto& [name, policy] : all_policies(world, setting.seed)) {
    const Figures f = simulate(world, *policy);
    if (json) {
      all[name] = {{"wait_p50_s", f.wait_p50},   {"wait_p99_s", f.wait_p99},
                   {"wait_mean_s", f.wait_mean}, {"wait_longest_s", f.wait_longest},
                   {"imbalance", f.imbalance},   {"restarts", f.restarts}};
      continue;
    }
    fmt::print("{:<12} {:>8.1f}ms {:>8.1f}ms {:>8.1f}ms {:>9.1f}s {:>9.1f}% {:>9}\n", name,
               f.wait_p50 * 1e3, f.wait_p99 * 1e3, f.wait_mean * 1e3, f.wait_longest,
               f.imbalance * 100, f.restarts);
    std::fflush(stdout);
  }
  if (json) fmt::print("{}\n", all.dump());
}
