#include "service/apis/notebook.h"

#include <catch2/catch.hpp>

namespace service {
namespace {

TEST_CASE("a cell that is indented as a whole is none", "[apis][notebook]") {
  CHECK(unindented("\n  \n    a = 1\n    if a:\n      a\n  b\n    ") == "a = 1\nif a:\n  a\n  b\n");
  CHECK(unindented("\n\na = 1\n b = 2") == "a = 1\n b = 2");
  CHECK(unindented("  a\nb\n") == "a\nb\n");
  CHECK(unindented("\ta\n\tb") == "a\nb");
  CHECK(unindented("a\n  b") == "a\n  b");
  for (const char* nothing : {"", " ", "\n", " \n  "}) CHECK(unindented(nothing) == "");
}

}  // namespace
}  // namespace service
