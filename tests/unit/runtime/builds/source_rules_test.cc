#include "runtime/builds/source_rules.h"

#include <catch2/catch.hpp>

namespace runtime {

namespace {

RuntimeSpec compiler() {
  RuntimeSpec spec;
  spec.file = "main.c";
  spec.compile = {"cc", "main.c", "{sources}", "{flags}"};
  spec.run = {"./main"};
  return spec;
}

Job with_file(const std::string& path) {
  Job job;
  job.files.push_back({path, ""});
  return job;
}

}  // namespace

TEST_CASE("what a compiler is told is refused where there is none", "[runtime]") {
  Job job;
  job.compiler_flags = {"-O3"};
  RuntimeSpec spec = compiler();
  CHECK(objection_to_sources("c", &spec, job) == "");
  CHECK(objection_to_sources("python", nullptr, job) == "compiler_flags: python has no compiler");
  spec.compile = {"cc", "main.c"};
  CHECK(objection_to_sources("c", &spec, job) ==
        "compiler_flags: c has no {flags} in its compile command");
  spec.compile.clear();
  CHECK(objection_to_sources("sh", &spec, job) == "compiler_flags: sh has no compiler");

  job = with_file("b.c");
  job.sources = {"b.c"};
  CHECK(objection_to_sources("sh", &spec, job) ==
        "sources: sh has no compiler; further files go into files");
  const RuntimeSpec c = compiler();
  CHECK(objection_to_sources("c", &c, job) == "");
}

TEST_CASE("a file and the source are not the folder of one another", "[runtime]") {
  const RuntimeSpec spec = compiler();
  CHECK(objection_to_sources("c", &spec, with_file("main.c/x")) ==
        R"(files["main.c/x"]: its folder has the name of the program's source, main.c)");
  CHECK(objection_to_sources("c", &spec, with_file("main.c/")).starts_with("files"));
  CHECK(objection_to_sources("c", &spec, with_file("main.cc/x")) == "");
  CHECK(objection_to_sources("c", &spec, with_file("main.c")) == "");  // the source wins

  Job job = with_file("a");
  job.source_name = "a/b.c";
  CHECK(objection_to_sources("c", &spec, job) ==
        R"(files["a"]: is the folder of the program's source, a/b.c)");
  job.files.clear();
  job.run_files.push_back({"a/b.c/d", ""});
  CHECK(objection_to_sources("c", &spec, job).starts_with(R"(files["a/b.c/d"])"));
}

TEST_CASE("a further source does not take the place of the source", "[runtime]") {
  const RuntimeSpec spec = compiler();
  Job job = with_file("main.c");
  job.sources = {"main.c"};
  CHECK(objection_to_sources("c", &spec, job) ==
        R"(sources["main.c"]: this is what the program's source itself is called)");
}

}  // namespace runtime
