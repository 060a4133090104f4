#include "tools/cli/certify/mix.h"

#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>

namespace cli {
namespace {

using nlohmann::json;

std::vector<LabelledJob> mix_of(size_t count, uint64_t seed) {
  auto corpus = built_in_corpus(count, seed, {});
  INFO((corpus ? std::string() : corpus.error().text()));
  REQUIRE(corpus.ok());
  return *std::move(corpus);
}

double number_behind(const std::string& text, const std::string& word) {
  const size_t at = text.find(word);
  REQUIRE(at != text.npos);
  return std::stod(text.substr(at + word.size()));
}

}  // namespace

TEST_CASE("dice throw the same numbers everywhere", "[cli][certify]") {
  Dice dice(1);
  CHECK(dice.below(1000) == 528);
  CHECK(dice.from_to(5, 7) >= 5);
  for (int i = 0; i < 1000; ++i) {
    const double share = dice.share();
    CHECK((share >= 0 && share < 1));
    CHECK(dice.wait(0.2) >= 0);
  }
}

TEST_CASE("a seed decides the built-in corpus", "[cli][certify]") {
  const auto sources = [](const std::vector<LabelledJob>& corpus) {
    std::string all;
    for (const LabelledJob& each : corpus) all += each.job.id + each.job.source + each.labels[0];
    return all;
  };
  CHECK(sources(mix_of(200, 3)) == sources(mix_of(200, 3)));
  CHECK(sources(mix_of(200, 3)) != sources(mix_of(200, 4)));
}

TEST_CASE("a hundred built-in programs have each kind in its share", "[cli][certify]") {
  std::map<std::string, unsigned> kinds;
  for (const LabelledJob& each : mix_of(100, 5))
    ++kinds[each.job.id.substr(0, each.job.id.rfind('-'))];

  CHECK(kinds.size() == recipes().size());
  for (const Recipe& recipe : recipes()) CHECK(kinds[recipe.name] == recipe.weight);
}

TEST_CASE("built-in programs stay clear of their limits of time, but for those of the band",
          "[cli][certify]") {
  for (const LabelledJob& each : mix_of(1000, 6)) {
    INFO(each.job.id << "\n" << each.job.source);
    const bool ok = each.labels[0] == "OK";
    double share = 0;
    if (each.job.id.starts_with("cpu")) {
      share = number_behind(each.job.source, "process_time() < ") * 1000 /
              static_cast<double>(each.job.limits.cpu.count());
    } else if (each.job.id.starts_with("wall")) {
      share = number_behind(each.job.source, "time.sleep(") * 1000 /
              static_cast<double>(each.job.limits.wall.count());
    } else {
      continue;
    }
    CHECK(each.is_band == each.job.id.starts_with("cpu-band"));
    if (each.is_band) {
      CHECK((share > 0.699 && share < 1.501 && each.labels.size() == 2));
      CHECK(ok == (share < 1));
    } else {
      CHECK((ok ? share > 0 && share < 0.701 : share > 1.499));
    }
  }
}

TEST_CASE("only programs about wall time have a wall limit that waiting could reach",
          "[cli][certify]") {
  for (const LabelledJob& each : mix_of(300, 8)) {
    INFO(each.job.id);
    CHECK(each.job.id.starts_with("wall") == (each.job.limits.wall < sys::Milliseconds(60'000)));
    const bool about_memory = each.job.id.starts_with("memory");
    CHECK(each.job.limits.memory == sys::mebibytes(about_memory ? 64 : 32));
  }
}

}  // namespace cli
