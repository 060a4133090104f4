#include "runtime/json/result/result_reader.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <limits>
#include <random>

#include "runtime/json/result/result_json.h"
#include "runtime/values/value.h"
#include "sandbox/sys/file.h"
#include "tests/fuzz/runtime/any_result.h"
#include "tests/unit/runtime/json/result/results.h"

namespace runtime {
namespace {

// The line of the result is read, and what was read is written, and read, as the same again.
void check_that_it_comes_back(const JobResult& result) {
  const std::string line = line_of(result);
  INFO(line);
  const auto read = parse_result(line);
  INFO((read ? "" : read.error().text()));
  REQUIRE(read.ok());
  CHECK(line_of(*read) == line);
  const auto again = parse_result(line_of(*read));
  REQUIRE(again.ok());
  CHECK((bytes_of(*again) == bytes_of(*read)));
}

std::string value_of(void (*write)(Writer&)) {
  Writer out;
  write(out);
  return out.take();
}

std::string nested(size_t depth, shim::Tag tag, std::string_view innermost) {
  Writer out;
  for (size_t i = 0; i < depth; ++i) {
    if (tag == shim::Tag::kArray) {
      out.array();
      out.text("x");
      out.container(shim::Tag::kList, 0);
      continue;
    }
    out.container(tag, 1);
    if (tag == shim::Tag::kDict) out.none();
  }
  out.raw(innermost);
  return out.take();
}

}  // namespace

TEST_CASE("a result of every part is read as it was", "[result][reader]") {
  const JobResult result = whole_result();
  const auto read = parse_result(line_of(result));
  REQUIRE(read.ok());
  CHECK((bytes_of(*read) == bytes_of(result)));
}

TEST_CASE("a job's tests are read as they were", "[result][reader]") {
  const JobResult result = result_with_tests();
  const auto read = parse_result(line_of(result));
  REQUIRE(read.ok());
  CHECK((bytes_of(*read) == bytes_of(result)));
  CHECK(summary_of(read->tests) == TestSummary{3, 1, 1, 1, 1.75});
}

TEST_CASE("a result of a job that never ran is read as it was", "[result][reader]") {
  JobResult result;
  result.verdict.detail = {{"step", "fork"}, {"errno", int64_t{11}}};
  const auto read = parse_result(line_of(result));
  REQUIRE(read.ok());
  CHECK((bytes_of(*read) == bytes_of(result)));
}

TEST_CASE("each label is read as the outcome that has it", "[result][reader]") {
  for (int i = 0; i <= static_cast<int>(Outcome::kSandboxError); ++i) {
    JobResult result;
    result.verdict.outcome = static_cast<Outcome>(i);
    if (result.verdict.outcome == Outcome::kException) result.verdict.exception_type = "ValueError";
    for (By by : {By::kProgram, By::kLimit, By::kPolicy, By::kCaller, By::kSandbox}) {
      result.verdict.by = by;
      const auto read = parse_result(line_of(result));
      REQUIRE(read.ok());
      CHECK((bytes_of(*read) == bytes_of(result)));
    }
  }
}

TEST_CASE("a class that is called like a label is no outcome", "[result][reader]") {
  for (const char* type :
       {"OK", "SandboxError", "Exception", "program.X", "program.", "zero\xFF"}) {
    JobResult result;
    result.verdict.outcome = Outcome::kException;
    result.verdict.exception_type = type;
    check_that_it_comes_back(result);
    CHECK(parse_result(line_of(result))->verdict.outcome == Outcome::kException);
  }
  CHECK(verdict_labelled("program.OK").exception_type == "OK");
  CHECK(verdict_labelled("program.X").exception_type == "program.X");
  CHECK(verdict_labelled("OK").ok());
}

TEST_CASE("every signal is read by its name", "[result][reader]") {
  for (int number : {1, 9, 31, 32, 33, 34, 37, 64, 77, 0, -5}) {
    JobResult result;
    result.exit = ExitStatus{.signalled = true, .code = number};
    const auto read = parse_result(line_of(result));
    REQUIRE(read.ok());
    CHECK(read->exit == result.exit);
  }
}

TEST_CASE("bytes that are no UTF-8 are read as FF from an output that says lossy",
          "[result][reader]") {
  JobResult result = whole_result();
  result.out = {.bytes = "a\xC3(\xE2\x82\xEF\xBF\xBD", .total = 7};
  result.err = {.bytes = "\xEF\xBF\xBD", .total = 3};
  check_that_it_comes_back(result);
  const auto read = parse_result(line_of(result));
  CHECK(read->out.bytes == "a\xFF(\xFF\xFF");
  CHECK(read->err.bytes == "\xEF\xBF\xBD");
}

TEST_CASE("files whose paths became alike are all read", "[result][reader]") {
  JobResult result;
  result.files.files = {{"\xFE", "1"}, {"\xFF", "2"}};
  check_that_it_comes_back(result);
  CHECK(parse_result(line_of(result))->files.files.size() == 2);
}

TEST_CASE("times and sizes are read up to the ends of their types", "[result][reader]") {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  for (int64_t number : {kMost, -kMost - 1, int64_t{-1}, kMost - 500, kMost / 1000 * 1000}) {
    JobResult result;
    result.usage = {.cpu_us = number,
                    .wall_us = number,
                    .stopped_us = number,
                    .memory_peak_bytes = number,
                    .pids_peak = std::numeric_limits<uint32_t>::max()};
    result.compile = CompileReport{true, number};
    result.out.total = static_cast<uint64_t>(number);
    result.verdict.detail = {{"n", number}, {"r", 1e308}, {"nan", std::nan("")}, {"z", -0.0}};
    check_that_it_comes_back(result);
  }
}

TEST_CASE("values come back as the bytes that they were", "[result][reader][values]") {
  const std::string long_integer = GENERATE("", "-") + std::string(shim::kMaxIntegerDigits, '9');
  Writer out;
  out.container(shim::Tag::kList, 10);
  out.integer(-300);
  out.big_integer(long_integer);
  out.number(-0.0);
  out.complex(std::numeric_limits<double>::infinity(), 1e-320);
  out.text(std::string_view("\0\xE2\x80\xA8$type", 9));
  out.bytes("\xFF");
  out.container(shim::Tag::kTuple, 0);
  out.container(shim::Tag::kDict, 2);  // no keys of JSON: pairs
  for (const char* key : {"a", "$type"}) {
    out.text(key);
    out.none();
  }
  out.container(shim::Tag::kDict, 0);
  out.array();
  out.text("float64");
  out.container(shim::Tag::kList, 1);
  out.integer(1);
  out.container(shim::Tag::kList, 1);
  out.number(0.1);
  JobResult result;
  result.value = out.take();

  const auto read = parse_result(line_of(result));

  REQUIRE(read.ok());
  CHECK((read->value == result.value));
}

// Nothing that a program can write may make its own result one that cannot be read.
TEST_CASE("values that no Python has are read", "[result][reader][values]") {
  using shim::Tag;
  const auto write = GENERATE(
      as<void (*)(Writer&)>(),
      [](Writer& out) {  // a set of lists, unsorted, one of them twice
        out.container(Tag::kSet, 3);
        for (uint32_t count : {1u, 0u, 0u}) {
          out.container(Tag::kList, count);
          if (count == 1) out.integer(1);
        }
      },
      [](Writer& out) {  // a key twice
        out.container(Tag::kDict, 2);
        for (int i = 0; i < 2; ++i) {
          out.text("k");
          out.integer(i);
        }
      },
      [](Writer& out) {  // a dict as a key
        out.container(Tag::kDict, 1);
        out.container(Tag::kDict, 0);
        out.none();
      },
      [](Writer& out) {  // an array of 64 dimensions and of a type that nobody knows
        out.array();
        out.text("$type");
        out.container(Tag::kList, 64);
        for (int i = 0; i < 64; ++i) out.integer(INT64_MAX);
        out.text("no data");
      },
      [](Writer& out) { out.big_integer("5"); });  // a short one
  JobResult result;
  result.value = value_of(write);
  result.array = GENERATE(false, true);
  REQUIRE(check(result.value).ok());
  check_that_it_comes_back(result);
}

TEST_CASE("values as deep as the format allows are read, and no deeper ones",
          "[result][reader][values]") {
  using shim::Tag;
  constexpr size_t kDeepest = 208;
  const Tag tag = GENERATE(Tag::kList, Tag::kTuple, Tag::kFrozenSet, Tag::kDict, Tag::kArray);
  const double nan = std::nan("");
  Writer innermost;
  innermost.complex(nan, -nan);
  JobResult result;
  result.value = nested(kDeepest, tag, innermost.since(0));
  REQUIRE(check(result.value).ok());
  check_that_it_comes_back(result);

  std::string line = line_of(JobResult{});
  const std::string null = "\"value\":null";
  const std::string list = std::string(kDeepest + 1, '[') + std::string(kDeepest + 1, ']');
  line.replace(line.find(null), null.size(), "\"value\":" + list);
  const auto refused = parse_result(line);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().text() == "value: value, byte 1045: nested too deep");
}

TEST_CASE("long bytes of a value are read from the parts in front of the line",
          "[result][reader][values]") {
  JobResult result;
  Writer out;
  out.container(shim::Tag::kList, 2);
  out.bytes(std::string(kLeastPart, 'x'));
  out.bytes("short");
  result.value = out.take();
  std::string line;
  std::vector<std::string_view> views;
  append_result(result, line, &views);
  REQUIRE(views.size() == 1);

  const auto read = parse_result(line, {std::string(views[0])});

  REQUIRE(read.ok());
  CHECK((read->value == result.value));
  CHECK(parse_result(line).error().text() == "value[0][\"part\"]: no such part, or used before");
}

// Seeds of the fuzzer: lines that zygo has written. What the fuzzer found is called found_*.
TEST_CASE("results of real runs come back as the lines that they are", "[result][reader]") {
  size_t lines = 0;
  const std::filesystem::path folder = ZYGO_SOURCE_DIR "/tests/fuzz/corpus/result_reader";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("found_")) continue;
    const auto line = sys::read_file(entry.path());
    REQUIRE(line.ok());
    const auto read = parse_result(*line);
    INFO(name << ": " << (read ? "" : read.error().text()));
    REQUIRE(read.ok());
    CHECK(line_of(*read) == *line);
    ++lines;
  }
  CHECK(lines >= 30);
}

TEST_CASE("random results come back", "[result][reader]") {
  std::mt19937_64 random(20);
  size_t values = 0;
  for (int i = 0; i < 1500; ++i) {
    std::string bytes(random() % 4096, '\0');
    for (char& byte : bytes) {
      // Small numbers and texts, so that many parts fit in.
      const uint64_t drawn = random();
      byte = static_cast<char>(drawn % 4 == 0 ? drawn >> 8 : (drawn >> 8) % 8);
    }
    fuzz::Input input(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    const JobResult result = fuzz::any_result(input);
    values += check(result.value).ok() ? 1 : 0;
    check_that_it_comes_back(result);
  }
  CHECK(values > 300);
}

}  // namespace runtime
