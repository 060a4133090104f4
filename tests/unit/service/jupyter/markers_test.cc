#include "service/jupyter/markers.h"

#include <catch2/catch.hpp>

namespace service::jupyter {
namespace {

// What came, in one line: what was said in brackets.
struct Heard {
  std::string text;
  Markers markers{"word",
                  {[this](std::string printed) { text += printed; },
                   [this](const nlohmann::json& said) { text += '[' + said.dump() + ']'; }}};
};

std::string heard(std::string_view bytes, size_t piece) {
  Heard all;
  for (size_t at = 0; at < bytes.size(); at += piece) all.markers.take(bytes.substr(at, piece));
  all.markers.end();
  return all.text;
}

}  // namespace

TEST_CASE("what a cell says is taken out of what it prints, however it is cut", "[jupyter]") {
  const std::string bytes =
      "a\xc3\xa4"
      "\x1eword:7:{\"b\":1}c\x1eword:2:{}\n";
  for (size_t piece = 1; piece <= bytes.size(); ++piece)
    CHECK(heard(bytes, piece) == "a\xc3\xa4[{\"b\":1}]c[{}]\n");
}

TEST_CASE("what only looks like something said is printed", "[jupyter]") {
  for (const std::string text : {"\x1e", "\x1e\x1e", "\x1ewor", "\x1ewords:2:{}", "\x1eword:x:{}",
                                 "\x1eword::{}", "\x1eword:99999999999:{}", "\x1eword:-1:{}"}) {
    CHECK(heard(text, text.size()) == text);
    CHECK(heard(text, 1) == text);
  }
}

TEST_CASE("something said that never ends is dropped at the end", "[jupyter]") {
  for (const std::string begun :
       {"\x1eword:9:{\"b\"", "\x1eword:+2:{}", "\x1eword:", "\x1eword:9"}) {
    Heard all;
    all.markers.take("a" + begun);
    CHECK(all.text == "a");
    all.markers.end();
    CHECK(all.text == "a");
  }
}

TEST_CASE("what others print comes between the pieces of what is said", "[jupyter]") {
  const std::string bytes = "\x1eword:+3:{\"bx\x1eword:+1:\"y\x1eword:3::1}z\x1eword:2:{}";
  for (size_t piece = 1; piece <= bytes.size(); ++piece)
    CHECK(heard(bytes, piece) == "xy[{\"b\":1}]z[{}]");
}

TEST_CASE("what waits is taken in pieces, in its order", "[jupyter]") {
  Waiting waiting;
  CHECK(waiting.is_empty());
  waiting.put("abcd");
  CHECK(waiting.take(3) == "abc");
  waiting.put("ef");
  CHECK(waiting.take(2) == "de");
  CHECK_FALSE(waiting.is_empty());
  CHECK(waiting.take(9) == "f");
  CHECK(waiting.is_empty());
  CHECK(waiting.take(1).empty());
}

TEST_CASE("something said that is no object is dropped", "[jupyter]") {
  CHECK(heard("a\x1eword:1:{b\x1eword:2:[]c", 3) == "abc");
}

TEST_CASE("text of bytes that begin markers is printed at once", "[jupyter]") {
  size_t pieces = 0;
  Markers markers("word", {[&pieces](const std::string&) { ++pieces; }, {}});
  markers.take(std::string(100'000, '\x1e') + "a");
  CHECK(pieces == 1);
}

TEST_CASE("what is said can be written again, however deep it is", "[jupyter]") {
  std::string deep = R"({"a":)" + std::string(500'000, '[') + std::string(500'000, ']') + '}';
  const std::string said = heard("\x1eword:" + std::to_string(deep.size()) + ':' + deep, 1 << 16);
  CHECK(said.starts_with(R"([{"a":[[[)"));
  CHECK(said.size() < 1000);
}

TEST_CASE("a character in two pieces is one, and a broken one is replaced", "[jupyter]") {
  Characters characters;
  CHECK(characters.take("a\xc3") == "a");
  CHECK(characters.take("\xa4\xff") == "\xc3\xa4\xef\xbf\xbd");
  CHECK(characters.take("\xc3").empty());
  CHECK(characters.end() == "\xef\xbf\xbd");
}

TEST_CASE("many things said in one piece are all heard, in their order", "[jupyter]") {
  std::string bytes, expected;
  for (int i = 0; i < 1000; ++i) {
    bytes += "x\x1eword:7:{\"b\":" + std::to_string(i % 10) + "}";
    expected += "x[{\"b\":" + std::to_string(i % 10) + "}]";
  }
  CHECK(heard(bytes + "end", bytes.size() + 3) == expected + "end");
  CHECK(heard(bytes + "end", 7) == expected + "end");
}

}  // namespace service::jupyter
