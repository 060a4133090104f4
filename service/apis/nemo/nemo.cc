#include "service/apis/nemo/nemo.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "runtime/json/job/job_builder.h"
#include "runtime/values/json_text.h"
#include "runtime/values/utf8.h"
#include "runtime/values/value.h"
#include "service/apis/notebook.h"
#include "service/apis/parsed.h"
#include "service/apis/results.h"

namespace service::nemo {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

constexpr size_t kUsualCharacters = 1000;
constexpr std::string_view kUsualLanguage = "ipython";
constexpr std::string_view kCut = "<output cut>";  // the original's mark
constexpr std::string_view kLate = "timeout";
constexpr size_t kLongestName = 200;

ordered_json body_of(std::string_view how, std::string out, std::string err) {
  return {{"process_status", how}, {"stdout", std::move(out)}, {"stderr", std::move(err)}};
}

Response not_offered(std::string_view language) {
  return refusal(
      501,
      fmt::format("the language {} is not offered here; use ipython, python or shell", language));
}

bool is_known(std::string_view language) { return language == "lean4" || language == "pypy3"; }

// It is in a path, too.
bool is_name(const std::string& name) {
  return !name.empty() && name.size() <= kLongestName && name.find('/') == name.npos &&
         runtime::is_utf8(name);
}

// The text by which the interpreter shows the last expression; empty: there is none.
std::string shown_by(const runtime::JobResult& result) {
  if (result.display.empty()) return "";
  std::string text;
  runtime::append_json(result.display, false, text);
  const json display = parsed(text);
  const auto plain = display.is_object() ? display.find("text/plain") : display.end();
  return plain != display.end() && plain->is_string() ? plain->get<std::string>() + "\n" : "";
}

// Standard error before and behind the traceback of an uncaught exception. A program may have
// changed where it goes: then it is in neither.
struct Errors {
  std::string before = {}, traceback = {}, behind = {};
  bool is_there = false;
  size_t raw = 0;  // bytes of the traceback that are further lines of the message
};

Errors errors_of(const runtime::JobResult& result) {
  Errors errors{.before = text_of(result.err)};
  if (!result.exception) return errors;
  errors.traceback = runtime::repaired_utf8(result.exception->traceback);
  const std::string message = runtime::repaired_utf8(result.exception->message);
  const size_t line = message.find('\n');
  if (line != message.npos && errors.traceback.ends_with(message + "\n"))
    errors.raw = message.size() - line;
  const size_t at =
      errors.traceback.empty() ? std::string::npos : errors.before.rfind(errors.traceback);
  if (at == std::string::npos) return errors;
  errors.is_there = true;
  errors.behind = errors.before.substr(at + errors.traceback.size());
  errors.before.resize(at);
  return errors;
}

// Whole lines behind the text, perhaps none.
std::string with_lines(std::string text, std::string_view lines) {
  if (!text.empty() && text.back() != '\n' && !lines.empty()) text += '\n';
  return text.append(lines);
}

// The first characters of UTF-8 text.
std::string cut(std::string text, size_t characters) {
  size_t seen = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const bool begins = (static_cast<unsigned char>(text[at]) & 0xc0) != 0x80;
    if (begins && seen++ == characters) {
      text.resize(at);
      return text += kCut;
    }
  }
  return text;
}

// Reads one field after another; the first objection counts.
class Fields {
 public:
  explicit Fields(const json& request) : request_(request) {}

  std::string text(const char* name, std::string_view otherwise) {
    const json* found = find(name);
    if (!found) return std::string(otherwise);
    if (found->is_string()) return found->get<std::string>();
    refuse(fmt::format("{}: expected a text", name));
    return "";
  }
  double seconds(const char* name) {
    const json* found = find(name);
    const double value = found && found->is_number() ? found->get<double>() : 0;
    if (std::isfinite(value) && value > 0) return value;
    refuse(fmt::format("{}: expected a number of seconds above 0", name));
    return 1;
  }
  size_t count(const char* name, size_t otherwise) {
    const json* found = find(name);
    if (!found) return otherwise;
    if (found->is_number_unsigned()) return found->get<size_t>();
    refuse(fmt::format("{}: expected a whole number of at least 0", name));
    return 0;
  }
  bool flag(const char* name) {
    const json* found = find(name);
    if (!found || found->is_boolean()) return found && found->get<bool>();
    refuse(fmt::format("{}: expected true or false", name));
    return false;
  }
  void refuse(std::string why) {
    if (objection_.empty()) objection_ = std::move(why);
  }
  const json* find(const char* name) const {
    const auto found = request_.find(name);
    return found == request_.end() || found->is_null() ? nullptr : &*found;
  }
  const std::string& objection() const { return objection_; }

 private:
  const json& request_;
  std::string objection_;
};

// By a semicolon, a cell says that its value is not to be shown.
bool ends_quietly(std::string_view cell) {
  const size_t last = cell.find_last_not_of(" \t\r\n\f");
  return last != cell.npos && cell[last] == ';';
}

// How much of a traceback the client wants to see; it writes the name with a capital letter.
Verbosity verbosity_of(Fields& fields) {
  const std::string name = fields.text("traceback_verbosity", "Plain");
  if (name == "Plain") return Verbosity::kPlain;
  if (name == "Minimal") return Verbosity::kMinimal;
  if (name != "Context" && name != "Verbose")
    fields.refuse("traceback_verbosity: expected Plain, Minimal, Context or Verbose");
  return Verbosity::kFull;
}

}  // namespace

std::variant<Execution, Response> read_execute(const Request& request,
                                               const runtime::JobDefaults& defaults) {
  const json body = parsed(request.body);
  if (!body.is_object()) return refusal(400, "the body is not a JSON object");
  Fields fields(body);
  const std::string language = fields.text("language", kUsualLanguage);
  if (is_known(language)) return not_offered(language);
  const bool is_shell = language == "shell", is_cell = language == kUsualLanguage;
  const std::string* name = request.header("x-session-id");
  if (is_cell && !(name && is_name(*name)))
    fields.refuse("X-Session-ID: expected the name of a session, of 1 to 200 bytes, without /");
  if (!is_cell && !is_shell && language != "python" && language != "python3")
    fields.refuse(fmt::format("language: \"{}\" is not known", language));
  if (!fields.find("generated_code")) fields.refuse("generated_code: expected a text");
  runtime::JobBuilder job(defaults);
  job.template_name(is_shell ? "bash" : python_template(defaults));
  std::string code = fields.text("generated_code", "");
  if (is_cell) code = unindented(code);
  const bool is_quiet = ends_quietly(code);
  job.source(std::move(code));
  std::string input = fields.text("std_input", "");
  if (!is_cell) job.stdin_bytes(std::move(input));
  const double seconds = fields.seconds("timeout");
  constexpr double kMostSeconds = static_cast<double>(runtime::kDayMs) / 1000;
  const auto milliseconds = static_cast<int64_t>(std::ceil(std::min(seconds, kMostSeconds) * 1000));
  for (const char* limit : {"wall_ms", "cpu_ms"}) job.limit(limit, milliseconds);
  Execution::Wish wish;
  wish.characters = fields.count("max_output_characters", kUsualCharacters);
  wish.is_by_code = is_shell;
  wish.is_quiet = is_quiet;
  wish.tracebacks = verbosity_of(fields);
  wish.facts = fields.flag("zygo");
  if (!fields.objection().empty()) return refusal(400, fields.objection());
  wish.seconds = body.at("timeout").dump();
  sys::Result<runtime::Job> read = std::move(job).finish();
  if (!read) return refusal(400, read.error().text());
  return Execution{is_cell ? *name : "", std::move(read).value(), std::move(wish)};
}

Response execute_response(const runtime::JobResult& result, const Execution::Wish& wish) {
  const runtime::Verdict& verdict = result.verdict;
  const bool is_ours = is_not_the_programs(verdict);
  const bool late = verdict.outcome == runtime::Outcome::kTimeout;
  const bool by_itself = verdict.by == runtime::By::kProgram;
  const Errors errors = errors_of(result);
  const std::string traceback =
      errors.is_there ? told_of_command(errors.traceback, errors.raw) : "";
  std::string out = cut(text_of(result.out), wish.characters);
  std::string err = cut(errors.before + traceback + errors.behind, wish.characters);
  if (late) {
    err = with_line(std::move(err),
                    fmt::format("Execution timed out after {} seconds", wish.seconds));
  } else if (!by_itself) {
    err = with_line(std::move(err), why_of(verdict));
  }
  const bool well = by_itself && (!wish.is_by_code || ended_well(verdict));
  ordered_json body =
      body_of(late ? kLate : (well ? "completed" : "error"), std::move(out), std::move(err));
  if (wish.facts) body["zygo"] = facts_of(result);
  return {.status = is_ours ? 502 : 200, .body = line_of(body)};
}

// The original's shell prints tracebacks among its output.
CellAnswer answer_of_cell(const runtime::JobResult& result, const Execution::Wish& wish) {
  const runtime::Verdict& verdict = result.verdict;
  const bool is_late = verdict.outcome == runtime::Outcome::kTimeout;
  const bool is_fine = verdict.ok();
  std::string out = text_of(result.out);
  if (!wish.is_quiet) out = with_lines(std::move(out), shown_by(result));
  Errors errors = errors_of(result);
  out = with_lines(std::move(out), told_by_ipython(errors.traceback, wish.tracebacks, errors.raw));
  out = cut(std::move(out), wish.characters);
  std::string err = std::move(errors.before) + errors.behind;
  err = cut(std::move(err), wish.characters);
  if (is_late)
    err = with_line(std::move(err),
                    fmt::format("Execution timed out after {} seconds", wish.seconds));
  else if (!is_fine && errors.traceback.empty())
    err = with_line(std::move(err), why_of(verdict));
  return {.status = is_not_the_programs(verdict) ? 502 : 200,
          .how = is_late ? kLate : (is_fine ? "completed" : "error"),
          .out = std::move(out),
          .err = std::move(err)};
}

// All fields but that of the session are texts: the tool for models checks that.
Response response_of_cell(CellAnswer answer, bool is_new, const std::string& why_not) {
  if (!why_not.empty() && answer.how != kLate)
    answer.err = with_line(std::move(answer.err),
                           "zygo: not kept: " + why_not + "; the session is as it was before");
  ordered_json body = body_of(answer.how, std::move(answer.out), std::move(answer.err));
  body["new_session_created"] = is_new;
  return {.status = answer.status, .body = line_of(body)};
}

Response refusal(int status, std::string_view why) {
  return {.status = status, .body = line_of(body_of("error", "", fmt::format("{}\n", why)))};
}

Response trouble(std::string_view why) { return refusal(502, why); }

}  // namespace service::nemo
