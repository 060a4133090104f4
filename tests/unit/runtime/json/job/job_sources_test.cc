// Fields of a job that name further files and what their compiler is told.
#include <catch2/catch.hpp>

#include "runtime/json/job/job_json.h"

namespace runtime {

namespace {

std::string refusal(const std::string& line) {
  const auto job = parse_job(line, {});
  return job.ok() ? "" : job.error().text();
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("flags for the compiler come in their order", "[job]") {
  const auto job =
      parse_job(R"({"source": "", "compiler_flags": ["-std=c++14", "-I", "a b"]})", {});
  REQUIRE(job.ok());
  CHECK(job->compiler_flags == Texts{"-std=c++14", "-I", "a b"});
}

TEST_CASE("flags that no command can have are refused by their place", "[job]") {
  CHECK(refusal(R"({"source": "", "compiler_flags": "-O3"})")
            .starts_with("compiler_flags: expected a list of strings"));
  CHECK(refusal(R"({"source": "", "compiler_flags": ["-O3", 3]})")
            .starts_with("compiler_flags[1]: expected a string"));
  CHECK(refusal(R"({"source": "", "compiler_flags": ["-O\u0000"]})") ==
        "compiler_flags[0]: a NUL inside");
  CHECK(refusal(R"({"source": "", "compiler_flags": [""]})") ==
        "compiler_flags[0]: a flag is not empty");
  CHECK(refusal(R"({"source": "", "compiler_flags": [")" + std::string(4097, 'x') + "\"]}") ==
        "compiler_flags[0]: longer than 4096 bytes");
  std::string many = "\"-O\"";
  for (int i = 0; i < 64; ++i) many += ",\"-O\"";
  CHECK(refusal(R"({"source": "", "compiler_flags": [)" + many + "]}") ==
        "compiler_flags: more than 64 flags");
}

TEST_CASE("further sources are files that are named", "[job]") {
  const auto job = parse_job(
      R"({"source": "", "sources": {"b.cc": "int b;", "lib/b.h": ""}, "files": {"c": {"text": "."}}})",
      {});
  REQUIRE(job.ok());
  CHECK(job->sources == Texts{"b.cc", "lib/b.h"});
  REQUIRE(job->files.size() == 3);
  CHECK(job->files[0].path == "c");
  CHECK(job->files[1] == InputFile{"b.cc", "int b;"});
}

TEST_CASE("further sources that have no place are refused by name", "[job]") {
  CHECK(refusal(R"({"source": "", "sources": ["b.cc"]})")
            .starts_with("sources: expected an object of strings"));
  CHECK(refusal(R"({"source": "", "sources": {"b.cc": 1}})")
            .starts_with("sources[\"b.cc\"]: expected a string"));
  CHECK(refusal(R"({"source": "", "sources": {"../b.cc": ""}})") ==
        R"(sources["../b.cc"]: a path has no "." or "..")");
  CHECK(refusal(R"({"source": "", "sources": {"b": "", "b/c.cc": ""}})") ==
        R"(sources["b/c.cc"]: the folder of this path is given as a file)");
  CHECK(refusal(R"({"source": "", "sources": {"b": ""}, "files": {"b": {"text": ""}}})") ==
        R"(sources["b"]: given in files, too)");
  CHECK(refusal(R"({"source": "", "files": {"b/c": {"text": ""}}, "sources": {"b": ""}})") ==
        R"(sources["b"]: one of files is its folder, or lies in it)");
  CHECK_FALSE(parse_defaults(R"({"sources": {"b": ""}})").ok());
}

TEST_CASE("a further source may be a blob", "[job]") {
  const std::string digest = "sha256:" + std::string(64, 'a');
  const auto job =
      parse_job(R"({"source": "", "sources": {"b.cc": {"blob": ")" + digest + "\"}}}", {});
  REQUIRE(job.ok());
  CHECK(job->files[0].blob == digest);
  CHECK(refusal(R"({"source": "", "sources": {"b.cc": {"blob": "x"}}})")
            .starts_with("sources[\"b.cc\"].blob: expected sha256:"));
  CHECK(refusal(R"({"source": "", "sources": {"b.cc": {}}})")
            .starts_with("sources[\"b.cc\"]: expected a string or"));
}

TEST_CASE("a checker has further sources and flags by the rules of a job", "[job]") {
  auto with = [](const std::string& fields) {
    return R"({"source": "", "checker": {"template": "cpp", "source": "x", )" + fields + "}}";
  };
  const auto job = parse_job(
      with(R"("sources": {"b.cc": "b"}, "files": {"c": {"text": ""}}, "compiler_flags": ["-O3"])"),
      {});
  REQUIRE(job.ok());
  CHECK(job->checker->sources == Texts{"b.cc"});
  CHECK(job->checker->files.size() == 2);
  CHECK(job->checker->compiler_flags == Texts{"-O3"});
  CHECK(job->checker->scores);
  CHECK(refusal(with(R"("sources": {"c": ""}, "files": {"c": {"text": ""}})")) ==
        R"(checker.sources["c"]: given in files, too)");
  CHECK(refusal(with(R"("compiler_flags": [""])")) ==
        "checker.compiler_flags[0]: a flag is not empty");
  CHECK(refusal(with(R"("sources": {"input.txt/a": ""})"))
            .starts_with("checker.files[\"input.txt/a\"]: has no place"));
}

TEST_CASE("a test brings files of its own, in every form that files have", "[job]") {
  const auto job = parse_job(
      R"({"source": "", "files": {"a": {"text": "all"}},
          "tests": [{"files": {"a": {"text": "one"}, "d/e": {"b64": "aGk="}}}, {}]})",
      {});
  REQUIRE(job.ok());
  CHECK(job->tests[0].files == std::vector<InputFile>{{"a", "one"}, {"d/e", "hi"}});
  CHECK(job->tests[1].files.empty());
}

TEST_CASE("a test's files must fit beside the job's", "[job]") {
  CHECK(refusal(R"({"source": "", "tests": [{}, {"files": {"/a": {"text": ""}}}]})") ==
        R"(tests[1].files["/a"]: a path is relative)");
  const std::string ending = ": one of the job's files is its folder, or lies in it";
  CHECK(refusal(R"({"source": "", "files": {"a": {"text": ""}},
                    "tests": [{}, {"files": {"a/b": {"text": ""}}}]})") ==
        R"(tests[1].files["a/b"])" + ending);
  CHECK(refusal(R"({"source": "", "files": {"a/b": {"text": ""}},
                    "tests": [{"files": {"a": {"text": ""}}}]})") ==
        R"(tests[0].files["a"])" + ending);
  CHECK(refusal(R"({"source": "", "files": {"a": {"directory": true}},
                    "tests": [{"files": {"a/b": {"text": ""}, "a": {"directory": true}}}]})")
            .ends_with("is given as a file") == false);
}

TEST_CASE("a checker's files must leave room for those of a test", "[job]") {
  CHECK(refusal(R"({"source": "", "checker": {"template": "c", "source": "x",
                    "files": {"input.txt/x": {"text": ""}}}})") ==
        R"(checker.files["input.txt/x"]: has no place beside the files of a test)");
  CHECK(refusal(R"({"source": "", "checker": {"template": "c", "source": "x",
                    "files": {"feedback": {"text": ""}}}})") == "");
}

}  // namespace runtime
