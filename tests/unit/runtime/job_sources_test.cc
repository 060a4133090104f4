// Fields of a job that name further files and what their compiler is told.
#include <catch2/catch.hpp>

#include "runtime/api/job_json.h"

namespace runtime {

namespace {

std::string refusal(const std::string& line) {
  const auto job = parse_job(line, {});
  return job.ok() ? "" : job.error().text();
}

}  // namespace

TEST_CASE("a checker's files must leave room for those of a test", "[job]") {
  CHECK(refusal(R"({"source": "", "checker": {"template": "c", "source": "x",
                    "files": {"input.txt/x": {"text": ""}}}})") ==
        R"(checker.files["input.txt/x"]: has no place beside the files of a test)");
  CHECK(refusal(R"({"source": "", "checker": {"template": "c", "source": "x",
                    "files": {"feedback": {"text": ""}}}})") == "");
}

}  // namespace runtime
