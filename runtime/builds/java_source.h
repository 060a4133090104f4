#pragma once
// Which class of a Java source is the program, and what the file must be called for javac: people
// send sources without their names. Looks at words and braces alone, outside of comments, strings
// and annotations; the bytes come from strangers. Pure.

#include <string>
#include <string_view>

namespace runtime {

struct JavaProgram {
  std::string file = "Main.java";   // a public type is its file's name (JLS 7.6)
  std::string main_class = "Main";  // with its package
  bool has_main = false;
};

// The class with `static void main`: the public one, or the first. Where there is none, what the
// file is called after.
JavaProgram java_program_in(std::string_view source);

}  // namespace runtime
