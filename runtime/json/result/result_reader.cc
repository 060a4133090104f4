#include "runtime/json/result/result_reader.h"

#include <utility>

#include "runtime/json/converter.h"
#include "runtime/json/job/job_tests.h"
#include "runtime/json/result/record_json.h"
#include "runtime/json/result/result_parts.h"
#include "runtime/values/json_text.h"

namespace runtime {

namespace {

struct SaidTest : TestResult {
  std::string label;
  bool ok = false;
};
constexpr auto kTest = joined(
    std::to_array<Member<SaidTest>>({
        always<SaidTest, &SaidTest::name>("name"),
        sometimes<SaidTest, &SaidTest::skipped>("skipped"),
        {"score", Presence::kSometimes,
         [](JsonReader& in, SaidTest& into) { return read_json(in, into.given.score); }},
        {"score_multiplier", Presence::kSometimes,
         [](JsonReader& in, SaidTest& into) { return read_json(in, into.given.multiplier); }},
        {"feedback", Presence::kSometimes,
         [](JsonReader& in, SaidTest& into) { return read_json(in, into.feedback.files); }},
        {"feedback_refused", Presence::kSometimes,
         [](JsonReader& in, SaidTest& into) { return read_json(in, into.feedback.refused); }},
    }),
    kOfRun<SaidTest>);
constexpr size_t kName = 0, kSkipped = 1;

// A test that was skipped has its name, and nothing else.
bool is_only_skipped(JsonReader& in, const SaidTest& test, const GivenMembers& given) {
  if (!test.skipped) {
    in.fail("expected true");
    return in.at_member(kTest[kSkipped].name);
  }
  for (size_t i = 0; i < kTest.size(); ++i) {
    if (i == kSkipped || given.has(i) == (i == kName)) continue;
    in.fail(i == kName ? "required" : "expected none, by skipped");
    return in.at_member(kTest[i].name);
  }
  return true;
}

}  // namespace

static bool read_json(JsonReader& in, TestResult& test) {
  SaidTest said;
  GivenMembers given;
  if (!read_given<SaidTest>(in, kTest, said, given)) return false;
  const bool good = given.has(kSkipped) ? is_only_skipped(in, said, given)
                                        : has_required<SaidTest>(in, kTest, given) &&
                                              take_label(in, said.label, said.ok, said.verdict);
  test = std::move(said);
  return good;
}

static bool read_json(JsonReader& in, std::vector<TestResult>& tests) {
  return read_list(in, tests, kMaxTests);
}

namespace {

constexpr Member<TestSummary> kSummary[] = {
    always<TestSummary, &TestSummary::total>("total"),
    always<TestSummary, &TestSummary::passed>("passed"),
    always<TestSummary, &TestSummary::failed>("failed"),
    always<TestSummary, &TestSummary::skipped>("skipped"),
    sometimes<TestSummary, &TestSummary::score>("score"),
};

std::string text_of(const std::optional<double>& score) {
  std::string text;
  score ? append_json_double(*score, text) : void(text = "none");
  return text;
}

// The summary is read with its tests, which decide what it says.
bool agrees(JsonReader& in, const TestSummary& said, const TestSummary& known) {
  constexpr std::string_view kBy = "tests";
  return agrees(in, "total", said.total, known.total, kBy) &&
         agrees(in, "passed", said.passed, known.passed, kBy) &&
         agrees(in, "failed", said.failed, known.failed, kBy) &&
         agrees(in, "skipped", said.skipped, known.skipped, kBy) &&
         (said.score == known.score || disagrees(in, "score", text_of(known.score), kBy));
}

struct SaidResult : JobResult {
  std::string label;
  bool ok = false;
  std::optional<TestSummary> summary;
};

bool read_tag(JsonReader& in, SaidResult& into) {
  into.tag.clear();
  return in.skip(&into.tag);
}

bool read_value(JsonReader& in, SaidResult& into) {
  if (in.peek() == JsonReader::Type::kNull) return in.read_null();
  Writer out;
  Converter(in, out, ValueOf::kResult).value(0);
  if (!in.ok()) return false;
  into.value = out.take();
  const sys::Result<void> checked = check(into.value);
  return checked.ok() || in.fail(checked.error().text());
}

bool read_display(JsonReader& in, SaidResult& into) {
  if (in.peek() != JsonReader::Type::kObject) return in.fail("expected an object");
  Writer out;
  Converter(in, out, ValueOf::kResult).value(0);
  if (!in.ok()) return false;
  into.display = out.take();
  const sys::Result<void> checked = check(into.display);
  return checked.ok() || in.fail(checked.error().text());
}

bool read_summary(JsonReader& in, SaidResult& into) {
  return read_members<TestSummary>(in, kSummary, into.summary.emplace());
}

constexpr auto kResult = joined(
    std::to_array<Member<SaidResult>>({
        always<SaidResult, &SaidResult::id>("id"),
        {"tag", Presence::kAlways, read_tag},
        {"value", Presence::kAlways, read_value},
        {"timing_us", Presence::kAlways, read_member<SaidResult, &SaidResult::timing>},
        {"display", Presence::kSometimes, read_display},
        {"session", Presence::kSometimes,
         [](JsonReader& in, SaidResult& into) { return read_json(in, into.step.emplace()); }},
        sometimes<SaidResult, &SaidResult::determinism>("determinism"),
        sometimes<SaidResult, &SaidResult::compile>("compile"),
        sometimes<SaidResult, &SaidResult::tests>("tests"),
        {"summary", Presence::kSometimes, read_summary},
        {"outputs", Presence::kSometimes,
         [](JsonReader& in, SaidResult& into) { return read_json(in, into.files.files); }},
        {"outputs_refused", Presence::kSometimes,
         [](JsonReader& in, SaidResult& into) { return read_json(in, into.files.refused); }},
        sometimes<SaidResult, &SaidResult::observed>("observed"),
        always<SaidResult, &SaidResult::enforced>("enforced"),
        {"level", Presence::kAlways,
         [](JsonReader& in, SaidResult& into) { return read_or_null(in, into.level); }},
        always<SaidResult, &SaidResult::template_id>("template"),
        {"record", Presence::kSometimes,
         [](JsonReader& in, SaidResult& into) { return read_json(in, into.record.emplace()); }},
    }),
    kOfRun<SaidResult>);

bool has_its_summary(JsonReader& in, const SaidResult& said) {
  if (said.summary.has_value() == said.tests.empty()) {
    in.fail(said.summary ? "expected none, by tests" : "required, by tests");
    return in.at_member("summary");
  }
  return !said.summary || agrees(in, *said.summary, summary_of(said.tests)) ||
         in.at_member("summary");
}

}  // namespace

sys::Result<JobResult> parse_result(std::string_view text, Parts parts) {
  if (text.size() > kMaxResultBytes)
    return sys::Error::because("longer than " + std::to_string(kMaxResultBytes >> 20) + " MiB");
  JsonReader in(text);
  in.bring(std::move(parts));
  SaidResult said;
  const bool good = read_members<SaidResult>(in, kResult, said) && in.finish() &&
                    take_label(in, said.label, said.ok, said.verdict) && has_its_summary(in, said);
  if (!good) return in.error();
  return JobResult(std::move(said));
}

}  // namespace runtime
