#include "service/apis/nemo/nemo.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "runtime/json/job/job_builder.h"
#include "service/apis/parsed.h"
#include "service/apis/results.h"

namespace service::nemo {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

constexpr size_t kUsualCharacters = 1000;
constexpr std::string_view kUsualLanguage = "ipython";
constexpr std::string_view kCut = "<output cut>";  // the original's mark

Response answer(int status, std::string_view how, std::string out, std::string err,
                ordered_json facts) {
  ordered_json body = {
      {"process_status", how}, {"stdout", std::move(out)}, {"stderr", std::move(err)}};
  // Where sessions are asked for, all fields must be texts: the tool for models checks that.
  if (!facts.is_null()) body["zygo"] = std::move(facts);
  return {.status = status, .body = line_of(body)};
}

Response refusal(int status, std::string_view why) {
  return answer(status, "error", "", fmt::format("{}\n", why), nullptr);
}

Response not_offered(std::string_view language) {
  if (language == "ipython")
    return refusal(501, "ipython sessions are not offered here; use the language python or shell");
  return refusal(501,
                 fmt::format("the language {} is not offered here; use python or shell", language));
}

bool is_known(std::string_view language) {
  return language == "ipython" || language == "lean4" || language == "pypy3";
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

}  // namespace

std::variant<Execution, Response> read_execute(const Request& request,
                                               const runtime::JobDefaults& defaults) {
  const json body = parsed(request.body);
  if (!body.is_object()) return refusal(400, "the body is not a JSON object");
  Fields fields(body);
  const std::string language = fields.text("language", kUsualLanguage);
  if (is_known(language)) return not_offered(language);
  if (request.header("x-session-id"))
    return refusal(501, "sessions (X-Session-ID) are not offered here");
  const bool is_shell = language == "shell";
  if (!is_shell && language != "python" && language != "python3")
    fields.refuse(fmt::format("language: \"{}\" is not known", language));
  if (!fields.find("generated_code")) fields.refuse("generated_code: expected a text");
  runtime::JobBuilder job(defaults);
  job.template_name(is_shell ? "bash" : python_template(defaults));
  job.source(fields.text("generated_code", ""));
  job.stdin_bytes(fields.text("std_input", ""));
  const double seconds = fields.seconds("timeout");
  constexpr double kMostSeconds = static_cast<double>(runtime::kDayMs) / 1000;
  const auto milliseconds = static_cast<int64_t>(std::ceil(std::min(seconds, kMostSeconds) * 1000));
  for (const char* limit : {"wall_ms", "cpu_ms"}) job.limit(limit, milliseconds);
  Execution::Wish wish;
  wish.characters = fields.count("max_output_characters", kUsualCharacters);
  wish.is_by_code = is_shell;
  if (!fields.objection().empty()) return refusal(400, fields.objection());
  wish.seconds = body.at("timeout").dump();
  sys::Result<runtime::Job> read = std::move(job).finish();
  if (!read) return refusal(400, read.error().text());
  return Execution{std::move(read).value(), std::move(wish)};
}

Response execute_response(const runtime::JobResult& result, const Execution::Wish& wish) {
  const runtime::Verdict& verdict = result.verdict;
  const bool is_ours = is_not_the_programs(verdict);
  const bool late = verdict.outcome == runtime::Outcome::kTimeout;
  const bool by_itself = verdict.by == runtime::By::kProgram;
  std::string out = cut(text_of(result.out), wish.characters);
  std::string err = cut(text_of(result.err), wish.characters);
  if (late) {
    err = with_line(std::move(err),
                    fmt::format("Execution timed out after {} seconds", wish.seconds));
  } else if (!by_itself) {
    err = with_line(std::move(err), why_of(verdict));
  }
  const bool well = by_itself && (!wish.is_by_code || ended_well(verdict));
  return answer(is_ours ? 502 : 200, late ? "timeout" : (well ? "completed" : "error"),
                std::move(out), std::move(err), facts_of(result));
}

Response trouble(std::string_view why) { return refusal(502, why); }

}  // namespace service::nemo
