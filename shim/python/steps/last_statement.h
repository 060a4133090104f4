#pragma once
// Where the last statement of a program begins, as far as its text tells: the value of a step is
// that of its last expression. A tree tells it always, but costs more than all else of a small
// step. Pure.

#include <cstddef>
#include <string_view>

namespace shim {

struct LastStatement {
  enum class Looks {
    kUnclear,         // only a tree tells
    kLikeExpression,  // it is one if the text before it and its own compile, each for itself
    kLikeStatement,   // it is not an expression alone, if the program compiles
  };
  Looks looks = Looks::kUnclear;
  size_t begin = 0;  // bytes before it
  size_t lines = 0;  // lines before it
};

LastStatement last_statement_of(std::string_view source);

}  // namespace shim
