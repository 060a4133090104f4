#include "shim/python/steps/last_statement.h"

#include <catch2/catch.hpp>
#include <string>

namespace shim {
namespace {

using Looks = LastStatement::Looks;

Looks looks_of(const std::string& source) { return last_statement_of(source).looks; }

}  // namespace

TEST_CASE("last statement: it begins with the last line that is not indented", "[step]") {
  const LastStatement last = last_statement_of("a = 1\n\nf(\n  a)\n# done\n\n");
  CHECK(last.looks == Looks::kLikeExpression);
  CHECK(last.begin == 7);
  CHECK(last.lines == 2);
  CHECK(last_statement_of("x").begin == 0);
}

TEST_CASE("last statement: what is an expression", "[step]") {
  for (const char* text :
       {"x", "x + 1  # more", "print('a = 1')", "f(x=1)", "x == 1", "x <= y", "x >= y", "x != y",
        "print(f'{x}', end='')", "'it\\'s'", "{'a': [1, 2]}", "not x", "lambda: 1", "iffy",
        "x >> 1", "\"\"\"long\"\"\"", "x: int", "match"})
    CHECK(looks_of(text) == Looks::kLikeExpression);
}

TEST_CASE("last statement: what is none", "[step]") {
  for (const char* text :
       {"x = 1", "x == y\nx = f('a', b=1)", "x += 1", "x <<= 1", "x >>= 1", "x: int = 1",
        "import os", "def f():\n  return 1", "if x: y", "else:\n  x", "return", "d['a = 1'] = 2",
        "for x in 'it\\'s':\n    x", "a = {1: [2]}  # )"})
    CHECK(looks_of(text) == Looks::kLikeStatement);
}

TEST_CASE("last statement: what only a tree tells", "[step]") {
  for (const char* text : {"",
                           "\n \n# a\n",
                           "a; b",
                           "x = 1; y",
                           "*a, b",
                           "@f",
                           ")",
                           "f(\nx = 1)",
                           "x = (",
                           "x = 'a",
                           "x = 'a\nb'",
                           "'''a\nx = 1'''",
                           "x = '''a'''",
                           "f = lambda x: x",
                           "lambda x=1: x",
                           "x = f'{y}'",
                           "a = 1\\\n\nx",
                           "x = 1 + \\\n2",
                           "x = 1\r\ny",
                           "x = 1\n\fy",
                           "from __future__ import annotations\nx",
                           "x := 1"})
    CHECK(looks_of(text) != Looks::kLikeStatement);
  // Lines within a long string that has begun before them.
  for (const char* text : {"'''a\nx = \"''' + v + '\"'  # isn't", "\"\"\"\nfor 'a\"\"\" + 'b' #'"})
    CHECK(looks_of(text) != Looks::kLikeStatement);
  for (const char* text : {"", "a; b", ")", "f(\nx = 1)", "x = f'{y}'", "lambda x=1: x", "*a, b",
                           "x = '''a'''", "x = 1\r\ny", "x = 1\n\fy"})
    CHECK(looks_of(text) == Looks::kUnclear);
}

}  // namespace shim
