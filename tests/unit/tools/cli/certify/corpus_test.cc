#include "tools/cli/certify/corpus.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace cli {
namespace {

std::string why_not_labelled(std::string_view line) {
  const auto job = parse_labelled(line, {});
  return job ? "" : job.error().text();
}

}  // namespace

TEST_CASE("a line of a corpus is a job and the label that it must get", "[cli][certify]") {
  const auto one = parse_labelled(
      R"~({"id": "a", "label": "OK", "source": "print(\"\u00e9\")", "limits": {"cpu_ms": 7}})~",
      {});
  REQUIRE(one.ok());
  CHECK(one->labels == std::vector<std::string>{"OK"});
  CHECK(one->job.id == "a");
  CHECK(one->job.source == "print(\"\u00e9\")");
  CHECK(one->job.limits.cpu == sys::Milliseconds(7));
  CHECK_FALSE(one->is_band);

  const auto either = parse_labelled(R"({"source": "", "label": ["KeyError", "OK"]})", {});
  REQUIRE(either.ok());
  CHECK(either->labels == std::vector<std::string>{"KeyError", "OK"});
}

TEST_CASE("values of a job come through the labels' parser as they were", "[cli][certify]") {
  const auto job = parse_labelled(
      R"({"label": "OK", "mode": "call", "func": "f", "source": "", "tag": {"b": [1, 2.50, "\u0041"]},
          "inputs": [12345678901234567890123, {"$type": "tuple", "items": [1]}]})",
      {});
  INFO((job.ok() ? "" : job.error().text()));
  REQUIRE(job.ok());
  CHECK(nlohmann::json::parse(job->job.tag) == nlohmann::json::parse(R"({"b": [1, 2.5, "A"]})"));
}

TEST_CASE("what is wrong with a line of a corpus is named by its field", "[cli][certify]") {
  const std::pair<const char*, const char*> kWrong[] = {
      {R"({"source": ""})", "label: required"},
      {R"({"source": "", "label": 7})", "label: expected a string or a list of strings, got 7"},
      {R"({"source": "", "label": []})", "label: no label in the list"},
      {R"({"source": "", "label": ["OK", 7]})", "label[1]: expected a string, got 7"},
      {R"({"source": "", "label": ""})", "label: a label is empty"},
      {R"({"source": "", "label": "OK", "label": "OK"})", "label: given twice"},
      {R"({"label": "OK"})", "source: "},
      {R"({"source": "", "label": "OK", "limits": {"cpu": 1}})", "unknown field limits.cpu"},
      {R"({"source": "", "source": "", "label": "OK"})", "source: given twice"},
      {R"([1])", "expected an object, got "},
      {R"({"source": "", "label": "OK"} 1)", ""},
      {R"({"source": "", "label": "OK")", ""},
      {"", ""},
  };
  for (const auto& [line, why] : kWrong) {
    INFO(line);
    const std::string said = why_not_labelled(line);
    CHECK_FALSE(said.empty());
    CHECK(said.find(why) == 0);
  }
}

TEST_CASE("a mistake in a corpus is told with file and line, blank lines counted",
          "[cli][certify]") {
  const auto corpus = parse_corpus("sums.jsonl",
                                   "{\"source\": \"1\", \"label\": \"OK\"}\n\n"
                                   "{\"source\": \"1\", \"labels\": \"OK\"}\n",
                                   {});
  REQUIRE_FALSE(corpus.ok());
  CHECK(corpus.error().text() == "sums.jsonl:3: label: required");

  CHECK(parse_corpus("empty.jsonl", "\n\n", {}).error().text() ==
        "empty.jsonl: there is no job in it");
  CHECK(read_corpus("/nowhere/corpus", {}).error().text() ==
        "/nowhere/corpus: No such file or directory");
}

TEST_CASE("a job of a corpus is known by its id, else by its line", "[cli][certify]") {
  const auto corpus = parse_corpus("c",
                                   "{\"source\": \"1\", \"label\": \"OK\"}\n"
                                   "{\"id\": \"x\", \"source\": \"1\", \"label\": \"OK\"}",
                                   {});
  REQUIRE(corpus.ok());
  REQUIRE(corpus->size() == 2);
  CHECK((*corpus)[0].job.id == "job-1");
  CHECK((*corpus)[1].job.id == "x");
  CHECK((*corpus)[1].place == "c:2");
}

}  // namespace cli
