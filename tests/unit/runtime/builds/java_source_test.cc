#include "runtime/builds/java_source.h"

#include <catch2/catch.hpp>

namespace runtime {
namespace {

std::string found_in(std::string_view source) {
  const JavaProgram program = java_program_in(source);
  return program.file + " " + program.main_class;
}

TEST_CASE("a Java program is the class with main, in a file of the public type's name", "[java]") {
  const char* main = "static void main(String[] a) {}";
  const auto with = [&](const std::string& before, const std::string& behind) {
    return found_in(before + main + behind);
  };
  CHECK(with("public class Main { public ", "}") == "Main.java Main");
  CHECK(with("public class Solution { public ", "}") == "Solution.java Solution");
  CHECK(with("class Solution { public ", "}") == "Solution.java Solution");
  CHECK(with("package a.b;\npublic final class X { public ", "}") == "X.java a.b.X");
  CHECK(with("class A { int f() { return 1; } } class B { ", "}") == "B.java B");
  CHECK(with("public interface Shape {} class B { public ", "}") == "Shape.java B");
  CHECK(with("class A { ", "} public class B {}") == "B.java A");
  CHECK(with("class A { ", R"(} public class B { public static void main(String[] a) {} })") ==
        "B.java B");
  CHECK(with("enum E { ONE; public ", "}") == "E.java E");
  CHECK(with("@Deprecated @SuppressWarnings({\"x\"}) public class C<T extends Comparable<T>> { "
             "public ",
             "}") == "C.java C");
  CHECK(with("record P(int x) { ", "}") == "P.java P");
  CHECK(with("class A { static int x = 1; @Override public final ", "}") == "A.java A");
}

TEST_CASE("what looks like a class in comments, texts and bodies is none", "[java]") {
  CHECK(found_in("// public class A {\n/* class B { static void main( */ public class C {}") ==
        "C.java C");
  CHECK(
      found_in(R"(class A { String s = "} public class B {"; static void main(String[] a) {} })") ==
      "A.java A");
  CHECK(found_in("class A { String s = \"\"\"\n} \" public class B {\n\"\"\"; char c = '\"'; "
                 "static void main(String[] a) {} }") == "A.java A");
  CHECK(found_in("class A { static class B { static void main(String[] a) {} } } "
                 "class C { static void main(String[] a) {} }") == "C.java C");
  CHECK(found_in("class A { void main() {} static void f() { main(); } }") == "Main.java Main");
  CHECK(found_in("@Run(A.class) class B { static void main(String[] a) {} }") == "B.java B");
}

TEST_CASE("whether a Java source has a program is told", "[java]") {
  CHECK(java_program_in("class A { public static void main(String[] a) {} }").has_main);
  CHECK_FALSE(java_program_in("public class A { void main() {} }").has_main);
  CHECK_FALSE(java_program_in("").has_main);
}

TEST_CASE("without a class that could be run a Java source keeps the usual names", "[java]") {
  CHECK(found_in("") == "Main.java Main");
  CHECK(found_in("}}}} class") == "Main.java Main");
  CHECK(found_in("public class Library {}") == "Library.java Library");
  CHECK(found_in("public class " + std::string(300, 'a') + " {}") == "Main.java Main");
}

}  // namespace
}  // namespace runtime
