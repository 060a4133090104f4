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
namespace cli {

TEST_CASE("parts go with the line behind them, in whatever pieces they come", "[cli][lines]") {
  const std::string raw = "a\nb\n\0c", input = "first\n" + raw + raw + "second\nthird";
  for (size_t piece = 1; piece <= input.size(); ++piece) {
    LineReader reader(40);
    std::vector<Line> seen;
    std::vector<std::string> texts;
    for (size_t at = 0; at <= input.size(); at += piece) {
      reader.append(input.substr(at, piece));
      if (at + piece > input.size()) reader.finish();
      while (auto line = reader.next()) {
        texts.emplace_back(line->text);
        if (line->text == "first") reader.expect({raw.size(), 0, raw.size()});
        seen.push_back(*line);
      }
    }
    REQUIRE(texts == std::vector<std::string>{"first", "second", "third"});
    CHECK(seen[0].parts.empty());
    CHECK(seen[1].parts == runtime::Parts{raw, "", raw});
    CHECK(seen[1].end == input.size() - 5);
    CHECK(seen[2].parts.empty());
  }
}

TEST_CASE("parts that are too long are passed over, and the line behind them says why",
          "[cli][lines]") {
  LineReader reader(40);
  reader.append("x\n0123");
  REQUIRE(reader.next());
  reader.pass_over(6, "why");
  CHECK_FALSE(reader.next());
  reader.append("45line\nnext\n");

  const auto line = reader.next();

  REQUIRE(line);
  CHECK(line->text == "line");
  CHECK(line->objection == "why");
  CHECK(reader.next()->objection.empty());
}

TEST_CASE("an input that ends within parts has no more lines", "[cli][lines]") {
  LineReader reader(40);
  reader.append("x\n01\n3");
  REQUIRE(reader.next());
  reader.expect({10});
  reader.finish();

  CHECK_FALSE(reader.next());
}

}  // namespace cli
