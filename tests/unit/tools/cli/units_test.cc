#include "tools/cli/units.h"

#include <catch2/catch.hpp>

namespace cli {

TEST_CASE("a size is a number with a binary unit, in any case, bare bytes", "[cli][units]") {
  auto [text, bytes] = GENERATE(table<std::string, uint64_t>({{"4096", 4096},
                                                              {"0", 0},
                                                              {"64K", 65536},
                                                              {"64k", 65536},
                                                              {"64kb", 65536},
                                                              {"64 KiB", 65536},
                                                              {"256M", 268435456},
                                                              {"256mb", 268435456},
                                                              {"1G", 1073741824},
                                                              {"1.5G", 1610612736},
                                                              {"17b", 17}}));
  CAPTURE(text);

  auto size = parse_size(text);

  REQUIRE(size.ok());
  CHECK(size->count == bytes);
}

TEST_CASE("what is not a size is refused with an example", "[cli][units]") {
  auto text = GENERATE(as<std::string>{}, "lots", "", "M", "-1M", "1e9", "0x10", "1M1", "1..5G",
                       "inf", "1T", "99999999G", "256 M B X");
  CAPTURE(text);

  auto size = parse_size(text);

  REQUIRE_FALSE(size.ok());
  CHECK(size.error().text().find("\"" + text + "\"") == 0);
}

TEST_CASE("the words about a bad size are those of the contract", "[cli][units]") {
  CHECK(parse_size("lots").error().text() == "\"lots\" is not a size; write e.g. 256M or 1G");
}

TEST_CASE("a duration takes ms, s and m, and a bare number is seconds", "[cli][units]") {
  auto [text, ms] = GENERATE(table<std::string, int64_t>(
      {{"250ms", 250}, {"2s", 2000}, {"1.5", 1500}, {"2", 2000}, {"1m", 60000}, {"0.001", 1}}));
  CAPTURE(text);

  auto duration = parse_duration(text);

  REQUIRE(duration.ok());
  CHECK(duration->count() == ms);
}

TEST_CASE("what is not a duration, or no time at all, is refused", "[cli][units]") {
  auto text = GENERATE(as<std::string>{}, "soon", "", "s", "0", "0s", "-1s", "1h", "1e3", "nan",
                       "0.0001ms", "99999999999");
  CAPTURE(text);

  CHECK_FALSE(parse_duration(text).ok());
}

TEST_CASE("sizes are told in the largest unit that fits", "[cli][units]") {
  CHECK(format_size(17) == "17 bytes");
  CHECK(format_size(536870912) == "512 MiB");
  CHECK(format_size(1610612736) == "1.5 GiB");
}

}  // namespace cli
