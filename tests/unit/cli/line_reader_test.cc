#include "tools/cli/batch/line_reader.h"

#include <catch2/catch.hpp>
#include <vector>

namespace cli {
namespace {

struct Seen {
  size_t number;
  std::string text;
  size_t end;
  bool operator==(const Seen&) const = default;
};

std::vector<Seen> all(LineReader& reader) {
  std::vector<Seen> lines;
  while (auto line = reader.next()) {
    lines.push_back(
        {line->number, line->too_long ? "(too long)" : std::string(line->text), line->end});
  }
  return lines;
}

}  // namespace

TEST_CASE("lines are numbered from one, blank ones counted but not given", "[cli][lines]") {
  LineReader reader(100);
  reader.append("a\n\n \t\r\nb\r\nc");
  reader.finish();

  CHECK(all(reader) == std::vector<Seen>{{1, "a", 2}, {4, "b\r", 10}, {5, "c", 11}});
}

TEST_CASE("lines are the same in whatever pieces they come", "[cli][lines]") {
  const std::string input = "first\nsecond line\n\nfourth\n" + std::string(60, 'x') + "\nlast";
  LineReader whole(40);
  whole.append(input);
  whole.finish();
  std::vector<Seen> expected = all(whole);
  size_t piece = GENERATE(1u, 2u, 3u, 7u, 50u);

  LineReader reader(40);
  std::vector<Seen> lines;
  for (size_t at = 0; at < input.size(); at += piece) {
    reader.append(std::string_view(input).substr(at, piece));
    for (Seen& line : all(reader)) lines.push_back(std::move(line));
  }
  reader.finish();
  for (Seen& line : all(reader)) lines.push_back(std::move(line));

  REQUIRE(expected.size() == 5);
  CHECK(expected[3].text == "(too long)");
  CHECK(lines == expected);
}

TEST_CASE("an input that ends inside a line that is too long tells so", "[cli][lines]") {
  LineReader reader(4);
  reader.append("0123456789");
  std::vector<Seen> before = all(reader);
  reader.finish();

  CHECK(before.empty());
  CHECK(all(reader) == std::vector<Seen>{{1, "(too long)", 10}});
}

}  // namespace cli
