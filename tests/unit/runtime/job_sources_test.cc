// Fields of a job that name further files and what their compiler is told.
#include <catch2/catch.hpp>

#include "runtime/api/job_json.h"

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

TEST_CASE("a checker's files must leave room for those of a test", "[job]") {
  CHECK(refusal(R"({"source": "", "checker": {"template": "c", "source": "x",
                    "files": {"input.txt/x": {"text": ""}}}})") ==
        R"(checker.files["input.txt/x"]: has no place beside the files of a test)");
  CHECK(refusal(R"({"source": "", "checker": {"template": "c", "source": "x",
                    "files": {"feedback": {"text": ""}}}})") == "");
}

}  // namespace runtime
