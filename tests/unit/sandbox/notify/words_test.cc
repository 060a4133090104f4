// Words for labels, made from what a job says.
#include "sandbox/notify/words.h"

#include <catch2/catch.hpp>
#include <string>

#include "sandbox/notify/address.h"

using namespace sandbox;

TEST_CASE("hostile text is escaped and bounded", "[notify]") {
  CHECK(escaped("/tmp/a b") == "/tmp/a b");
  CHECK(escaped("a\nb\x1b[2J\\") == "a\\nb\\x1b[2J\\\\");
  CHECK(escaped("\xc3\xa9 \xff \xed\xa0\x80 \xc2\x9b") ==
        "\xc3\xa9 \\xff \\xed\\xa0\\x80 \\xc2\\x9b");
  CHECK(escaped(std::string(5000, '\xc3')).size() <= kMaxArgument);
  CHECK(escaped(std::string(5000, 'x')).ends_with("x..."));
}

TEST_CASE("addresses have words, also short and strange ones", "[notify]") {
  using namespace std::string_literals;
  CHECK(address_text("\x02\x00\x00\x50\x7f\x00\x00\x01\0\0\0\0\0\0\0\0"s) == "127.0.0.1:80");
  CHECK(address_text("\x02\x00\x00"s) == "family 2");
  CHECK(address_text("\x01\x00\0abc"s) == "unix:@abc");
  CHECK(address_text("\x01\x00"s) == "unix:");
  CHECK(address_text("\x10\x00zzzzzzzzzz"s) == "family 16");
  CHECK(address_text("") == "no address");
}
