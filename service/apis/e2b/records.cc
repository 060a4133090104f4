#include "service/apis/e2b/records.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sandbox/sys/utc.h"
#include "service/apis/results.h"
#include "service/jupyter/prelude.h"

namespace service::e2b {

using nlohmann::json;
using runtime::Outcome;

namespace {

constexpr std::pair<std::string_view, std::string_view> kNames[] = {
    {"text/plain", "text"},        {"text/html", "html"},
    {"text/markdown", "markdown"}, {"image/svg+xml", "svg"},
    {"image/png", "png"},          {"image/jpeg", "jpeg"},
    {"application/pdf", "pdf"},    {"text/latex", "latex"},
    {"application/json", "json"},  {"application/javascript", "javascript"},
    {jupyter::kChart, "chart"},    {jupyter::kData, "data"},
};

// Empty: the SDKs have no name for it.
std::string_view name_of_type(std::string_view type) {
  for (const auto& [known, name] : kNames) {
    if (known == type) return name;
  }
  return {};
}

std::string now_text() { return sys::utc_text(sys::time_since_1970()); }

// A text is shown without its quotes, as there.
std::string without_quotes(std::string text) {
  const bool is_quoted = text.size() > 1 && text.front() == text.back() &&
                         (text.front() == '\'' || text.front() == '"');
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

std::string not_kept_note(std::string_view why) {
  return fmt::format("what the code did is not kept: {}. The sandbox is as it was before this code",
                     why);
}

std::string with_note(std::string traceback, const std::string& note) {
  return note.empty() ? traceback : with_line(std::move(traceback), note);
}

}  // namespace

std::string stream_record(std::string_view stream, std::string_view text) {
  if (text.empty()) return "";
  return line_of({{"type", stream}, {"text", text}, {"timestamp", now_text()}});
}

std::string result_record(const json& data, Is which) {
  if (!data.is_object() || data.empty()) return "";
  // Not the JSON that keeps an order: it takes long for an object of many names.
  json record = {{"type", "result"}, {"is_main_result", which == Is::kMainResult}};
  for (const auto& [type, value] : data.items()) {
    const std::string_view name = name_of_type(type);
    const bool is_fine = (type != jupyter::kChart && type != jupyter::kData) || value.is_object();
    if (name.empty()) {
      record["extra"][type] = value;
    } else if (name == "text" && value.is_string()) {
      record["text"] = without_quotes(value.get<std::string>());
    } else if (is_fine) {
      record[std::string(name)] = value;
    }
  }
  return record.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
}

std::string error_record(std::string_view name, std::string_view value,
                         std::string_view traceback) {
  return line_of({{"type", "error"}, {"name", name}, {"value", value}, {"traceback", traceback}});
}

std::string count_record(unsigned executions) {
  return line_of({{"type", "number_of_executions"}, {"execution_count", executions}});
}

CodeEnd code_end(const runtime::JobResult& result) {
  const runtime::Verdict& verdict = result.verdict;
  const bool by_program = verdict.by == runtime::By::kProgram;
  CodeEnd end;
  if (by_program && result.step && !result.step->kept)
    end.not_kept = not_kept_note(result.step->why_not);
  if (by_program && result.exception) {
    end.error = error_record(result.exception->type, result.exception->message,
                             with_note(result.exception->traceback, end.not_kept));
  } else if (verdict.outcome == Outcome::kNonZeroExit) {
    end.error = error_record("SystemExit", std::to_string(result.exit ? result.exit->code : 1),
                             end.not_kept);
  } else if (verdict.outcome != Outcome::kOk) {
    end.error = error_record(verdict.label(),
                             why_of(verdict) + ". The sandbox is as it was before this code");
  }
  return end;
}

std::string last_record(const CodeEnd& end, const std::optional<json>& said) {
  if (!end.error.empty()) return end.error;
  if (said && said->value("status", "") == "error") {
    std::string traceback;
    for (const json& line : said->at("traceback")) traceback += line.get<std::string>() + "\n";
    if (!traceback.empty()) traceback.pop_back();
    return error_record(said->at("ename").get<std::string>(), said->at("evalue").get<std::string>(),
                        with_note(std::move(traceback), end.not_kept));
  }
  return end.not_kept.empty() ? "" : error_record("StateNotKept", end.not_kept);
}

}  // namespace service::e2b
