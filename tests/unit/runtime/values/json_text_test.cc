#include "runtime/values/json_text.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

using namespace runtime;

namespace {

std::string quoted(const std::string& text) {
  std::string out;
  append_json_string(text, out);
  return out;
}

std::string utf8_of(uint32_t c) {
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x800) return {static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 0x3F))};
  return {static_cast<char>(0xE0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 0x3F)),
          static_cast<char>(0x80 | (c & 0x3F))};
}

bool is_surrogate(uint32_t c) { return c >= 0xD800 && c <= 0xDFFF; }

}  // namespace

TEST_CASE("what would move or hide text on a terminal is escaped in JSON", "[json]") {
  CHECK(quoted("\x1b[2J\x7f") == R"("\u001b[2J\u007f")");
  CHECK(quoted("\xc2\x9b"
               "31m\xc2\x85") == R"("\u009b31m\u0085")");
  CHECK(quoted("\xe2\x80\xae\xe2\x81\xa6\xd8\x9c\xe2\x80\xa8") == R"("\u202e\u2066\u061c\u2028")");
}

TEST_CASE("text that only begins like it stays as it is", "[json]") {
  const std::string text = "\xc2\xa0\xc3\xa9\xe2\x82\xac\xe2\x80\x93\xd8\xa7\xf0\x9f\x98\x80";

  CHECK(quoted(text) == '"' + text + '"');
}

TEST_CASE("every code point comes back from JSON as it went in", "[json]") {
  std::string wrong;
  for (uint32_t c = 0; c < 0x10000; ++c) {
    if (is_surrogate(c)) continue;
    const std::string text = "a" + utf8_of(c) + "b";
    if (nlohmann::json::parse(quoted(text)).get<std::string>() != text) wrong += text;
  }

  CHECK(wrong.empty());
}
