#include "service/apis/e2b/records.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "runtime/values/utf8.h"
#include "runtime/values/value.h"
#include "sandbox/sys/utc.h"
#include "service/apis/results.h"

namespace service::e2b {

using nlohmann::json;
using nlohmann::ordered_json;
using runtime::Outcome;

namespace {

constexpr std::pair<std::string_view, std::string_view> kNames[] = {
    {"text/plain", "text"},        {"text/html", "html"},
    {"text/markdown", "markdown"}, {"image/svg+xml", "svg"},
    {"image/png", "png"},          {"image/jpeg", "jpeg"},
    {"application/pdf", "pdf"},    {"text/latex", "latex"},
    {"application/json", "json"},  {"application/javascript", "javascript"},
};

// Empty: the SDKs have no name for it.
std::string_view name_of_type(std::string_view type) {
  for (const auto& [known, name] : kNames) {
    if (known == type) return name;
  }
  return {};
}

std::string now_text() { return sys::utc_text(sys::time_since_1970()); }

std::string stream_record(std::string_view type, const runtime::Output& output) {
  if (output.bytes.empty()) return "";
  return line_of({{"type", type}, {"text", text_of(output)}, {"timestamp", now_text()}});
}

// The JSON of what shows a value: pictures are base64, and a pair of data and what is said of them
// is the data.
ordered_json shown_as(const ordered_json& value, std::string_view type) {
  const bool is_tagged = value.is_object() && value.contains("$type");
  if (is_tagged && value.contains("data") && value["data"].is_string()) return value["data"];
  if (is_tagged && value.contains("items") && value["items"].is_array() && !value["items"].empty())
    return shown_as(value["items"].front(), type);
  if (value.is_string() || type == "application/json") return value;
  return line_of(value);
}

// A text is shown without its quotes, as there.
std::string without_quotes(std::string text) {
  const bool is_quoted = text.size() > 1 && text.front() == text.back() &&
                         (text.front() == '\'' || text.front() == '"');
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

// A semicolon at the end says that the value is not to be shown.
bool hides_its_value(std::string_view code) {
  const size_t last = code.find_last_not_of(" \t\r\n");
  return last != code.npos && code[last] == ';';
}

std::string result_record(const runtime::JobResult& result) {
  std::string text;
  runtime::append_json(result.display, false, text);
  const ordered_json shown = ordered_json::parse(text, nullptr, false);
  if (!shown.is_object() || shown.empty()) return "";
  ordered_json record = {{"type", "result"}, {"is_main_result", true}};
  for (const auto& [type, value] : shown.items()) {
    const std::string_view name = name_of_type(type);
    if (name.empty()) {
      record["extra"][type] = shown_as(value, type);
    } else {
      record[std::string(name)] = shown_as(value, type);
    }
    if (name == "text") record["text"] = without_quotes(record["text"].get<std::string>());
  }
  return line_of(record);
}

// The line of the code that an exception names; empty: none.
std::string_view line_at(std::string_view code, int64_t number) {
  for (int64_t line = 1; line < number; ++line) {
    const size_t end = code.find('\n');
    if (end == code.npos) return {};
    code.remove_prefix(end + 1);
  }
  code = code.substr(0, code.find('\n'));
  const size_t first = code.find_first_not_of(" \t");
  return number < 1 || first == code.npos ? std::string_view() : code.substr(first);
}

constexpr std::string_view kNoShell =
    "commands of a shell (!) and magics (%) are not offered here, and packages cannot be "
    "installed: there is no network";

std::string not_kept_note(std::string_view why) {
  return fmt::format("what the code did is not kept: {}. The sandbox is as it was before this code",
                     why);
}

// `note` comes behind the traceback.
std::string exception_record(const runtime::Exception& exception, std::string_view code,
                             const std::string& note) {
  const std::string_view line = line_at(code, exception.line);
  const bool is_notebooks = exception.type == "SyntaxError" && !line.empty() &&
                            (line.front() == '!' || line.front() == '%');
  return error_record(exception.type, is_notebooks ? kNoShell : exception.message,
                      note.empty() ? exception.traceback : with_line(exception.traceback, note));
}

// A call for the network is what is refused most.
std::string why_ended(const runtime::Verdict& verdict) {
  const std::string* call = detail_text(verdict, "syscall");
  const bool is_network = verdict.outcome == Outcome::kUnsafeCode && call && *call == "socket";
  return is_network ? "there is no network in a sandbox (" + why_of(verdict) + ")"
                    : why_of(verdict);
}

}  // namespace

std::string error_record(std::string_view name, std::string_view value,
                         std::string_view traceback) {
  return line_of({{"type", "error"}, {"name", name}, {"value", value}, {"traceback", traceback}});
}

std::string count_record(unsigned executions) {
  return line_of({{"type", "number_of_executions"}, {"execution_count", executions}});
}

std::string records_of(const runtime::JobResult& result, std::string_view code) {
  const runtime::Verdict& verdict = result.verdict;
  const bool by_program = verdict.by == runtime::By::kProgram;
  runtime::Output errors = result.err;
  // The interpreter writes it there, too.
  if (result.exception && errors.bytes.ends_with(result.exception->traceback))
    errors.bytes.resize(errors.bytes.size() - result.exception->traceback.size());
  std::string records = stream_record("stdout", result.out) + stream_record("stderr", errors);
  const bool is_lost = by_program && result.step && !result.step->kept;
  const std::string note = is_lost ? not_kept_note(result.step->why_not) : "";
  if (by_program && result.exception)
    return records + exception_record(*result.exception, code, note);
  if (verdict.outcome == Outcome::kOk) {
    if (!result.display.empty() && !hides_its_value(code)) records += result_record(result);
    return is_lost ? records + error_record("StateNotKept", note) : records;
  }
  if (verdict.outcome == Outcome::kNonZeroExit) {
    return records +
           error_record("SystemExit", std::to_string(result.exit ? result.exit->code : 1), note);
  }
  return records + error_record(verdict.label(),
                                why_ended(verdict) + ". The sandbox is as it was before this code");
}

}  // namespace service::e2b
