#include "tools/cli/judge/program.h"

#include "tests/unit/tools/cli/judge/fixture.h"

namespace cli {
namespace {

using Catch::Matchers::Contains;
using Names = std::vector<std::string>;

runtime::TemplateSpec language(const std::string& name, const std::string& file, Names extensions,
                               Names compile, Names run) {
  auto spec = std::make_shared<runtime::RuntimeSpec>();
  spec->name = name;
  spec->file = file;
  spec->extensions = std::move(extensions);
  spec->finds_class = name == "java";
  spec->compile = std::move(compile);
  spec->run = std::move(run);
  return {name, {}, "", std::move(spec)};
}

const std::vector<runtime::TemplateSpec>& known() {
  static const std::vector<runtime::TemplateSpec> kKnown = {
      {"python", {}, "", nullptr},
      language("c", "main.c", {"c"}, {"gcc", "main.c", "{sources}"}, {"./main"}),
      language("cpp", "main.cpp", {"cpp", "cc"}, {"g++", "main.cpp", "{sources}"}, {"./main"}),
      language("java", "Main.java", {"java"}, {"javac", "Main.java", "{sources}"}, {"java"}),
      language("rust", "main.rs", {"rs"}, {"rustc", "main.rs"}, {"./main"}),
      language("bash", "main.sh", {"sh"}, {}, {"bash", "main.sh"}),
  };
  return kKnown;
}

SourceProgram read(const PackageFolder& folder, const std::string& path = "s") {
  auto program = read_program(folder.open(), path, known());
  if (!program) FAIL(program.error().text());
  return std::move(program).value();
}

std::string error(const PackageFolder& folder) {
  auto program = read_program(folder.open(), "s", known());
  return program ? "" : program.error().text();
}

Names names_of(const std::vector<runtime::InputFile>& files) {
  Names names;
  for (const runtime::InputFile& file : files) names.push_back(file.path);
  return names;
}

}  // namespace

TEST_CASE("a folder of C++ is one program, of all of its sources", "[judge][program]") {
  PackageFolder folder;
  folder.file("s/b.cpp", "b").file("s/a.cc", "a").file("s/a.h", "").file("s/deep/c.cpp", "c");
  folder.file("s/deep/notes.txt", "").file("s/table.c", "");
  PackageFolder with_main;
  with_main.file("s/b.cpp", "b").file("s/Main.cpp", "main").file("s/tool.py", "");

  CHECK_THAT(error(folder), Contains("a.cc and b.cpp could each be the program"));  // and table.c
  std::filesystem::remove(folder.path() / "s/table.c");

  const SourceProgram program = read(folder);
  CHECK((program.template_name == "cpp" && program.source == "a"));
  CHECK(program.sources == Names{"b.cpp", "deep/c.cpp"});
  CHECK(names_of(program.files) == Names{"a.h", "b.cpp", "deep/c.cpp", "deep/notes.txt"});
  CHECK(read(with_main).source == "main");
  CHECK(read(with_main).sources == Names{"b.cpp"});
}

TEST_CASE("a folder of Java begins in Main, or in the only class with main", "[judge][program]") {
  const char* main = "class A { static void main(String[] a) {} }";
  PackageFolder folder, other, two, without;
  other.file("s/Adder.java", "class Adder {}").file("s/Sum.java", main);
  two.file("s/Adder.java", main).file("s/Sum.java", main);
  folder.file("s/Adder.java", "").file("s/Main.java", "main").file("s/util/Pair.java", "");
  without.file("s/Adder.java", "").file("s/Sum.java", "");

  CHECK(read(folder).source == "main");
  CHECK(read(folder).sources == Names{"Adder.java", "util/Pair.java"});
  CHECK(read(other).source == main);
  CHECK(read(other).sources == Names{"Adder.java"});
  CHECK_THAT(error(two), Contains("call one of them main.*"));
  CHECK_THAT(error(without), Contains("call one of them main.*"));
}

TEST_CASE("a folder of Python begins in main.py, else in __main__.py", "[judge][program]") {
  PackageFolder package, both, neither;
  package.file("s/__main__.py", "m").file("s/other.py", "").file("s/lib/__init__.py", "");
  both.file("s/__main__.py", "m").file("s/main.py", "main");
  neither.file("s/a.py", "").file("s/b.py", "");

  CHECK(read(package).source == "m");
  CHECK(names_of(read(package).files) == Names{"lib/__init__.py", "other.py"});
  CHECK(read(package).sources.empty());
  CHECK(read(both).source == "main");
  CHECK_THAT(error(neither), Contains("a.py and b.py could each be the program"));
}

TEST_CASE("a language whose compiler finds other files itself is given the main one",
          "[judge][program]") {
  PackageFolder folder;
  folder.file("s/main.rs", "main").file("s/sums.rs", "");

  CHECK(read(folder).sources.empty());
  CHECK(names_of(read(folder).files) == Names{"sums.rs"});
}

TEST_CASE("two main files, no file and no language are errors", "[judge][program]") {
  PackageFolder two, none, file;
  two.file("s/main.c", "").file("s/main.cpp", "");
  none.file("s/readme.txt", "");
  file.file("s.xyz", "");

  CHECK_THAT(error(two), Contains("main.c and main.cpp could each be the program"));
  CHECK_THAT(error(none), Contains("no file has an extension of a known language"));
  CHECK_FALSE(read_program(file.open(), "s.xyz", known()));
}

}  // namespace cli
