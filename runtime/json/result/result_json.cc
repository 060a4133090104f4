#include "runtime/json/result/result_json.h"

#include <algorithm>
#include <cmath>

#include "runtime/job/micros.h"
#include "runtime/json/result/record_json.h"
#include "runtime/judging/signal_names.h"
#include "runtime/values/json_text.h"
#include "runtime/values/utf8.h"
#include "runtime/values/value.h"

namespace runtime {

namespace {

// `,"key":` - every field but the first of an object.
void key(const char* name, std::string& out) {
  out += ",\"";
  out += name;
  out += "\":";
}

void text(const char* name, std::string_view value, std::string& out) {
  key(name, out);
  append_json_string(value, out);
}

void number(const char* name, int64_t value, std::string& out) {
  key(name, out);
  append_json_integer(value, out);
}

void real(const char* name, const std::optional<double>& value, std::string& out) {
  if (!value) return;
  key(name, out);
  if (std::isfinite(*value)) return append_json_double(*value, out);
  out += "null";
}

void boolean(const char* name, bool value, std::string& out) {
  key(name, out);
  out += value ? "true" : "false";
}

void append_detail_value(const DetailValue& value, std::string& out) {
  if (const auto* words = std::get_if<std::string>(&value)) {
    append_json_string(*words, out);
  } else if (const auto* integer = std::get_if<int64_t>(&value)) {
    append_json_integer(*integer, out);
  } else if (const auto* real = std::get_if<double>(&value)) {
    std::isfinite(*real) ? append_json_double(*real, out) : void(out += "null");
  } else {
    out += std::get<bool>(value) ? "true" : "false";
  }
}

void append_detail(const Detail& detail, std::string& out) {
  key("detail", out);
  out += '{';
  for (size_t i = 0; i < detail.size(); ++i) {
    if (i > 0) out += ',';
    append_json_string(detail[i].first, out);
    out += ':';
    append_detail_value(detail[i].second, out);
  }
  out += '}';
}

void append_exit(const std::optional<ExitStatus>& exit, std::string& out) {
  key("exit", out);
  out += "{\"code\":";
  exit && !exit->signalled ? append_json_integer(exit->code, out) : void(out += "null");
  out += ",\"signal\":";
  exit && exit->signalled ? void(append_json_string(signal_name(exit->code), out))
                          : void(out += "null");
  out += '}';
}

// A cap may cut a character in two; what is left of it becomes U+FFFD, and `lossy` says so.
void append_output(const char* name, const Output& output, std::string& out) {
  key(name, out);
  out += "{\"text\":";
  const Repair repair = append_json_string(output.bytes, out);
  number("bytes", static_cast<int64_t>(output.total), out);
  boolean("truncated", output.truncated, out);
  boolean("lossy", repair == Repair::kReplaced, out);
  out += '}';
}

void append_value(const JobResult& result, std::string& out, std::vector<std::string_view>* parts) {
  key("value", out);
  result.value.empty() ? void(out += "null") : append_json(result.value, result.array, out, parts);
}

void append_exception(const std::optional<Exception>& exception, std::string& out) {
  if (!exception) return;
  key("exception", out);
  out += "{\"type\":";
  append_json_string(exception->type, out);
  text("message", exception->message, out);
  text("traceback", exception->traceback, out);
  out += '}';
}

void append_usage(const Usage& usage, std::string& out) {
  key("usage", out);
  out += "{\"cpu_ms\":";
  append_json_integer(rounded_milliseconds(usage.cpu_us), out);
  number("wall_ms", rounded_milliseconds(usage.wall_us), out);
  number("memory_peak_kb", usage.memory_peak_bytes / 1024, out);
  number("pids_peak", usage.pids_peak, out);
  boolean("contended", usage.contended, out);
  number("cpu_us", usage.cpu_us, out);
  number("wall_us", usage.wall_us, out);
  if (usage.stopped_us) number("stopped_us", *usage.stopped_us, out);
  if (usage.reruns > 0) {
    number("reruns", usage.reruns, out);
    number("rerun_cpu_us", usage.rerun_cpu_us, out);
  }
  out += '}';
}

void append_timing(const Timing& timing, std::string& out) {
  key("timing_us", out);
  out += "{\"admit\":";
  append_json_integer(timing.admit, out);
  number("lease", timing.lease, out);
  number("fork", timing.fork, out);
  number("confine", timing.confine, out);
  number("run", timing.run, out);
  number("collect", timing.collect, out);
  number("judge", timing.judge, out);
  if (timing.rollback) number("rollback", *timing.rollback, out);
  out += '}';
}

void append_texts(const std::vector<std::string>& texts, std::string& out) {
  out += '[';
  for (const std::string& each : texts) {
    if (out.back() != '[') out += ',';
    append_json_string(each, out);
  }
  out += ']';
}

void append_determinism(const std::optional<DeterminismReport>& report, std::string& out) {
  if (!report || (report->runs <= 1 && !report->fixed)) return;
  key("determinism", out);
  if (report->fixed) {
    out += "{\"mode\":\"fixed\"";
    number("seed", report->seed, out);
    key("not_fixed", out);
    append_texts(report->not_fixed, out);
    if (report->runs > 1) number("runs", report->runs, out);
  } else {
    out += "{\"runs\":";
    append_json_integer(report->runs, out);
  }
  if (report->runs > 1) boolean("same", report->same, out);
  if (!report->same) {
    text("axis", report->axis, out);
    text("where", report->where, out);
  }
  out += '}';
}

void append_compile(const std::optional<CompileReport>& report, std::string& out) {
  if (!report) return;
  key("compile", out);
  out += report->cached ? "{\"cached\":true" : "{\"cached\":false";
  number("wall_ms", rounded_milliseconds(report->wall_us), out);
  out += '}';
}

void append_display(const JobResult& result, std::string& out) {
  if (result.display.empty()) return;
  key("display", out);
  append_json(result.display, false, out);
}

void append_node(const std::string& id, std::string& out) {
  id.empty() ? void(out += "null") : void(append_json_string(id, out));
}

void append_step(const std::optional<StepReport>& step, std::string& out) {
  if (!step) return;
  key("session", out);
  out += "{\"node\":";
  append_node(step->node, out);
  key("parent", out);
  append_node(step->parent, out);
  boolean("kept", step->kept, out);
  if (step->kept) number("bytes", step->bytes, out);
  if (!step->kept) text("why_not", step->why_not, out);
  out += '}';
}

void append_files(const char* name, const OutputFiles& outputs, std::string& out) {
  if (outputs.files.empty() && outputs.refused.empty()) return;
  key(name, out);
  out += '{';
  for (size_t i = 0; i < outputs.files.size(); ++i) {
    const InputFile& file = outputs.files[i];
    if (i > 0) out += ',';
    append_json_string(file.path, out);
    out += ":{";
    if (is_utf8(file.content)) {
      out += "\"text\":";
      append_json_string(file.content, out);
    } else {
      out += "\"b64\":\"";
      append_base64(file.content, out);
      out += '"';
    }
    number("bytes", static_cast<int64_t>(file.content.size()), out);
    boolean("executable", file.executable, out);
    out += '}';
  }
  out += '}';
  if (outputs.refused.empty()) return;
  key((std::string(name) + "_refused").c_str(), out);
  for (size_t i = 0; i < outputs.refused.size(); ++i) {
    out += i == 0 ? "[{\"path\":" : ",{\"path\":";
    append_json_string(outputs.refused[i].path, out);
    text("why", outputs.refused[i].why, out);
    out += '}';
  }
  out += ']';
}

void append_test(const TestResult& test, std::string& out) {
  out += "{\"name\":";
  append_json_string(test.name, out);
  if (test.skipped) {
    out += ",\"skipped\":true}";
    return;
  }
  text("label", test.verdict.label(), out);
  text("by", name_of(test.verdict.by), out);
  boolean("ok", test.verdict.ok(), out);
  append_detail(test.verdict.detail, out);
  real("score", test.given.score, out);
  real("score_multiplier", test.given.multiplier, out);
  append_files("feedback", test.feedback, out);
  append_exit(test.exit, out);
  append_output("stdout", test.out, out);
  append_output("stderr", test.err, out);
  append_exception(test.exception, out);
  append_usage(test.usage, out);
  out += '}';
}

void append_tests(const std::vector<TestResult>& tests, std::string& out) {
  if (tests.empty()) return;
  key("tests", out);
  for (size_t i = 0; i < tests.size(); ++i) {
    out += i == 0 ? '[' : ',';
    append_test(tests[i], out);
  }
  out += ']';
  const TestSummary summary = summary_of(tests);
  key("summary", out);
  out += "{\"total\":";
  append_json_integer(summary.total, out);
  number("passed", summary.passed, out);
  number("failed", summary.failed, out);
  number("skipped", summary.skipped, out);
  real("score", summary.score, out);
  out += '}';
}

void append_observed(const std::vector<ObservedCall>& calls, std::string& out) {
  if (calls.empty()) return;
  using Treatment = ObservedCall::Treatment;
  key("observed", out);
  for (size_t i = 0; i < calls.size(); ++i) {
    const ObservedCall& call = calls[i];
    out += i == 0 ? "[{\"syscall\":" : ",{\"syscall\":";
    append_json_string(call.name, out);
    number("count", static_cast<int64_t>(call.count), out);
    text("treatment",
         call.treatment == Treatment::kAllowed   ? "allowed"
         : call.treatment == Treatment::kQuietly ? "failed quietly"
                                                 : "refused",
         out);
    if (call.treatment != Treatment::kAllowed) number("errno", call.error, out);
    if (!call.argument.empty()) text("argument", call.argument, out);
    key("profile", out);
    call.needs ? void(append_json_string(name_of(*call.needs), out)) : void(out += "null");
    out += '}';
  }
  out += ']';
}

void append_enforced(sandbox::Layers layers, std::string& out) {
  key("enforced", out);
  out += '[';
  bool first = true;
  for (unsigned i = 0; i < sandbox::kLayerCount; ++i) {
    const auto layer = static_cast<sandbox::Layer>(i);
    if (!layers.has(layer)) continue;
    if (!first) out += ',';
    first = false;
    append_json_string(name_of(layer), out);
  }
  out += ']';
}

// Escaped, or replaced where it is not UTF-8.
size_t most_as_string(std::string_view text) {
  size_t bytes = 2;
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    const bool short_escape = c == '"' || c == '\\' || c == '\n' || c == '\r' || c == '\t';
    bytes += short_escape ? 2 : byte < 0x20 || byte == 0x7F ? 6 : byte >= 0x80 ? 3 : 1;
  }
  return bytes;
}

// Whatever a value holds: two bytes of an array may be a number of 22 digits, one a null.
constexpr size_t kMostPerByteOfAValue = 12;
constexpr size_t kMostOfTheRest = 8192;  // of the fields that are always there
constexpr size_t kMostOfAPart = 1024;    // of a test, a file, a call: its own fields

size_t most_as_detail(const Detail& detail) {
  size_t bytes = 0;
  for (const auto& [key, value] : detail) {
    bytes += key.size() + 64;
    if (const auto* text = std::get_if<std::string>(&value)) bytes += most_as_string(*text);
  }
  return bytes;
}

size_t most_as_exception(const std::optional<Exception>& exception) {
  if (!exception) return 0;
  return most_as_string(exception->type) + most_as_string(exception->message) +
         most_as_string(exception->traceback);
}

}  // namespace

size_t bytes_in_parts(const JobResult& result) { return bytes_in_parts(result.value); }

size_t most_bytes_of(const JobResult& result, size_t raw) {
  size_t bytes = kMostOfTheRest + most_as_string(result.id) + result.tag.size() +
                 most_as_string(result.out.bytes) + most_as_string(result.err.bytes) +
                 kMostPerByteOfAValue * (result.value.size() + result.display.size() - raw) + raw +
                 most_as_exception(result.exception) + most_as_detail(result.verdict.detail) +
                 6 * result.template_id.size();
  if (result.record) bytes += most_bytes_of(*result.record);
  for (const TestResult& test : result.tests) {
    bytes += kMostOfAPart + most_as_string(test.name) + most_as_string(test.out.bytes) +
             most_as_string(test.err.bytes) + most_as_exception(test.exception) +
             most_as_detail(test.verdict.detail);
  }
  for (const InputFile& file : result.files.files) {
    const size_t text = most_as_string(file.content);
    bytes +=
        kMostOfAPart + most_as_string(file.path) + std::max(text, file.content.size() / 3 * 4 + 8);
  }
  for (const auto& refused : result.files.refused)
    bytes += kMostOfAPart + most_as_string(refused.path) + most_as_string(refused.why);
  for (const ObservedCall& call : result.observed)
    bytes += kMostOfAPart + 6 * (call.name.size() + call.argument.size());
  return bytes;
}

void append_result(const JobResult& result, std::string& out) {
  append_result(result, out, nullptr);
}

void append_result(const JobResult& result, std::string& out,
                   std::vector<std::string_view>* parts) {
  out += "{\"id\":";
  append_json_string(result.id, out);
  key("tag", out);
  out += result.tag.empty() ? "null" : result.tag;
  text("label", result.verdict.label(), out);
  text("by", name_of(result.verdict.by), out);
  boolean("ok", result.verdict.ok(), out);
  append_detail(result.verdict.detail, out);
  append_exit(result.exit, out);
  append_output("stdout", result.out, out);
  append_output("stderr", result.err, out);
  append_value(result, out, parts);
  append_display(result, out);
  append_exception(result.exception, out);
  append_step(result.step, out);
  append_usage(result.usage, out);
  append_timing(result.timing, out);
  append_determinism(result.determinism, out);
  append_compile(result.compile, out);
  append_tests(result.tests, out);
  append_files("outputs", result.files, out);
  append_observed(result.observed, out);
  append_enforced(result.enforced, out);
  key("level", out);
  result.level ? void(append_json_string(name_of(*result.level), out)) : void(out += "null");
  text("template", result.template_id, out);
  if (result.record) {
    key("record", out);
    append_record(*result.record, out);
  }
  out += '}';
}

}  // namespace runtime
