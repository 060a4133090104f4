#include "runtime/json/job/job_tests.h"

#include <optional>
#include <set>
#include <utility>

#include "runtime/json/converter.h"
#include "runtime/json/job/job_parts.h"
#include "runtime/json/job/job_value.h"
#include "runtime/judging/compare.h"
#include "runtime/values/json_text.h"

namespace runtime {

using Type = JsonReader::Type;

namespace {

constexpr const char* kComparators =
    "exact, lines, tokens, float:TOLERANCE, json or checker as a string";

bool read_text(JsonReader& in, const Field& field, std::string& text) {
  if (in.peek() != Type::kString) return in.expected("a string");
  if (!in.read_string(text)) return false;
  return text.size() <= static_cast<size_t>(field.max) ||
         in.fail("longer than " + std::to_string(field.max) + " bytes");
}

// Any JSON value may be expected of a call, and a string of output.
bool read_expect(JsonReader& in, const Field& field, TestCase& test, bool& is_text) {
  is_text = in.peek() == Type::kString;
  std::string compact;
  JsonReader before = in;
  if (!in.skip(&compact)) return false;
  if (!is_text) {
    test.expect = std::move(compact);
    return true;
  }
  in = before;
  return read_text(in, field, test.expect.emplace());
}

bool read_comparator(JsonReader& in, TestCase& test) {
  JsonReader before = in;
  std::string words;
  if (in.peek() == Type::kString && !in.read_string(words)) return false;
  if (words == "checker") {
    test.comparator = Comparator::kChecker;
    return true;
  }
  if (auto named = comparator_named(words)) {
    test.comparator = named->comparator;
    test.tolerance = named->tolerance;
    return true;
  }
  in = before;
  return in.expected(kComparators);
}

class TestReader {
 public:
  TestReader(JsonReader& in, const Field& field, TestCase& test)
      : in_(in), field_(field), test_(test) {}

  bool read() {
    if (in_.peek() != Type::kObject) return in_.expected("an object");
    std::string key;
    in_.open_object();
    for (bool first = true; in_.next_key(first, key); first = false) {
      if (!given_.insert(key).second) in_.fail("given twice");
      if (!in_.ok() || !value(key)) return in_.at_field('.' + key);
    }
    return in_.ok() && finish();
  }

 private:
  bool value(const std::string& key) {
    if (key == "name") return read_text(in_, field_, test_.name);
    if (key == "stdin") return read_bytes(in_, field_, test_.stdin_bytes);
    if (key == "argv") return read_argv(in_, field_, test_.argv);
    if (key == "files") return read_files(in_, test_.files);
    if (key == "args") return read_call_part(in_, true, args_);
    if (key == "kwargs") return read_call_part(in_, false, kwargs_);
    if (key == "expect") {
      expected_at_ = in_;
      return read_expect(in_, field_, test_, text_expected_);
    }
    if (key == "compare") return read_comparator(in_, test_);
    return in_.fail(
        "unknown field; expected name, stdin, argv, files, args, kwargs, expect or compare");
  }

  bool finish() {
    const bool calls = !args_.empty() || !kwargs_.empty();
    if (!calls && test_.expect && !text_expected_)
      return in_.fail("expect: expected a string (of a test without args)");
    if (!calls) return true;
    test_.calls = one_call(args_, kwargs_);
    if (!given_.contains("compare")) test_.comparator = Comparator::kJson;
    if (test_.comparator == Comparator::kExact) return expect_value();
    if (test_.expect && text_expected_) test_.expect = quoted(*test_.expect);
    if (test_.comparator == Comparator::kFloat) {
      test_.comparator = Comparator::kJson;  // of values; the tolerance stays
    } else if (test_.comparator != Comparator::kJson) {
      return in_.fail("compare: a value is compared by json, exact or float:TOLERANCE");
    }
    return true;
  }

  // Reads `expect` again, as a value: that it is one was not known before.
  bool expect_value() {
    test_.comparator = Comparator::kValue;
    if (!test_.expect) return true;
    const JsonReader behind = std::exchange(in_, *expected_at_);
    Writer value;
    Converter(in_, value).value(0);
    if (!in_.ok()) return in_.at_field(".expect");
    in_ = behind;
    test_.expect = value.take();
    return true;
  }

  static std::string quoted(const std::string& text) {
    std::string json;
    append_json_string(text, json);
    return json;
  }

  JsonReader& in_;
  const Field& field_;
  TestCase& test_;
  std::set<std::string> given_;
  std::string args_, kwargs_;
  bool text_expected_ = true;
  std::optional<JsonReader> expected_at_;
};

// A test places these files beside a checker or an interactor.
Paths paths_of_test(const Checker& checker) {
  Paths paths = {"input.txt", "answer.txt"};
  if (checker.protocol == Checker::Protocol::kIcpc) paths.insert("feedback/.keep");
  return paths;
}

const Field& flags_of_a_job() {
  return job_fields()[static_cast<size_t>(field_index("compiler_flags"))];
}

bool read_protocol(JsonReader& in, Checker& checker) {
  JsonReader before = in;
  std::string word;
  if (in.peek() == Type::kString && !in.read_string(word)) return false;
  if (word == "testlib" || word == "icpc") {
    checker.protocol = word == "icpc" ? Checker::Protocol::kIcpc : Checker::Protocol::kTestlib;
    return true;
  }
  in = before;
  return in.expected("\"testlib\" or \"icpc\"");
}

}  // namespace

bool read_tests(JsonReader& in, const Field& field, std::vector<TestCase>& tests) {
  if (in.peek() != Type::kArray) return in.expected("a list of tests");
  tests.clear();
  std::set<std::string> names;
  in.open_array();
  while (in.next_item(tests.empty())) {
    TestCase test;
    bool good = TestReader(in, field, test).read();
    if (test.name.empty()) test.name = "test-" + std::to_string(tests.size() + 1);
    if (good && !names.insert(test.name).second)
      good = in.fail("name: another test has it as well");
    if (good && tests.size() == kMaxTests)
      good = in.fail("more than " + std::to_string(kMaxTests) + " tests");
    if (!good) return in.at_index(tests.size());
    tests.push_back(std::move(test));
  }
  return in.ok();
}

bool read_checker(JsonReader& in, const Field& field, Checker& checker) {
  if (in.peek() != Type::kObject) return in.expected("an object");
  checker.scores = true;
  std::set<std::string> given;
  std::vector<InputFile> sources;
  std::string key;
  in.open_object();
  for (bool first = true; in.next_key(first, key); first = false) {
    bool good = given.insert(key).second || in.fail("given twice");
    if (!good) return in.at_field('.' + key);
    if (key == "template") {
      good = read_text(in, field, checker.template_name);
    } else if (key == "source") {
      good = read_text(in, field, checker.source);
    } else if (key == "files") {
      good = read_files(in, checker.files);
    } else if (key == "sources") {
      good = read_sources(in, field, sources);
    } else if (key == "compiler_flags") {
      good = read_flags(in, flags_of_a_job(), checker.compiler_flags);
    } else if (key == "argv") {
      good = read_argv(in, field, checker.argv);
    } else if (key == "protocol") {
      good = read_protocol(in, checker);
    } else if (key == "feedback") {
      good = read_json(in, checker.keeps_feedback);
    } else {
      good = in.fail(
          "unknown field; expected template, source, files, sources, compiler_flags, argv, "
          "protocol or feedback");
    }
    if (!good) return in.at_field('.' + key);
  }
  if (!in.ok()) return false;
  if (const auto misfit = take_sources(std::move(sources), checker.files, checker.sources)) {
    in.fail(misfit->why);
    in.at_key(misfit->path);
    return in.at_field(".sources");
  }
  if (const InputFile* file = misplaced(paths_of_test(checker), checker.files)) {
    in.fail("has no place beside the files of a test");
    in.at_key(file->path);
    return in.at_field(".files");
  }
  if (checker.keeps_feedback && checker.protocol != Checker::Protocol::kIcpc)
    return in.fail("feedback: only in protocol icpc");
  if (checker.template_name.empty()) return in.fail("template: required");
  return !checker.source.empty() || in.fail("source: required");
}

}  // namespace runtime
