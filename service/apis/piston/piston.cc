#include "service/apis/piston/piston.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "runtime/job/input_path.h"
#include "runtime/json/job/job_builder.h"
#include "runtime/judging/signal_names.h"
#include "service/apis/parsed.h"
#include "service/apis/results.h"

namespace service::piston {

using nlohmann::json;
using nlohmann::ordered_json;
using runtime::Family;
using runtime::Outcome;

namespace {

Response json_response(int status, const ordered_json& body) {
  return {.status = status, .body = line_of(body)};
}

enum class Input : uint8_t { kGiven, kLive };

// The fields of one request. The first refusal is kept, in the original's words and order.
class Reader {
 public:
  Reader(const json& request, const Limits& limits) : request_(request), limits_(limits) {}

  bool fine() const { return refusal_.empty(); }
  const std::vector<std::string>& names() const { return names_; }  // of the texts
  const std::string& refusal() const { return refusal_; }
  void refuse(std::string message) {
    if (fine()) refusal_ = std::move(message);
  }

  std::string text(const char* name) {
    const auto found = request_.find(name);
    if (found != request_.end() && found->is_string()) return *found;
    refuse(fmt::format("{} is required as a string", name));
    return "";
  }

  // A request means the lower one of both kinds of time; 0 and null mean the usual.
  int64_t milliseconds(const char* name, int64_t most) { return number(name, most).value_or(most); }

  // Nothing: no limit is asked for.
  std::optional<int64_t> number(const char* name, std::optional<int64_t> most) {
    const auto found = request_.find(name);
    if (found == request_.end() || found->is_null() || *found == 0) return std::nullopt;
    if (!found->is_number()) {
      refuse(fmt::format("If specified, {} must be a number", name));
      return std::nullopt;
    }
    const auto value = found->get<double>();
    if (!most && value == -1) return std::nullopt;
    if (value < 0) {
      refuse(fmt::format("{} must be non-negative", name));
    } else if (most && value > static_cast<double>(*most)) {
      refuse(fmt::format("{} cannot exceed the configured limit of {}", name, *most));
    } else if (value < kMost) {
      return std::max<int64_t>(1, static_cast<int64_t>(value));
    }
    return std::nullopt;
  }

  void limits(runtime::JobBuilder& job, Input input) {
    job.limit("wall_ms", milliseconds("run_timeout", limits_.run_timeout_ms));
    job.limit("cpu_ms", milliseconds("run_cpu_time", limits_.run_timeout_ms));
    for (const char* name : {"compile_timeout", "compile_cpu_time"})
      milliseconds(name, limits_.compile_timeout_ms);  // a runtime's own limits hold
    const int64_t kilobytes = std::max<int64_t>(1, limits_.output_bytes / 1024);
    if (input == Input::kGiven) {
      for (const char* stream : {"stdout_kb", "stderr_kb"}) job.limit(stream, kilobytes);
    }
    number("compile_memory_limit", std::nullopt);
    if (const auto bytes = number("run_memory_limit", std::nullopt))
      job.limit("memory_mb", std::max<int64_t>(1, *bytes >> 20));
  }

  std::vector<std::string> argv() {
    const auto found = request_.find("args");
    std::vector<std::string> made;
    if (found == request_.end() || !found->is_array()) return made;
    for (const json& argument : *found)
      made.push_back(argument.is_string() ? argument.get<std::string>() : argument.dump());
    return made;
  }

  // It always ends a line.
  std::string input() {
    const auto found = request_.find("stdin");
    std::string text;
    if (found != request_.end() && found->is_string()) text = *found;
    if (!text.ends_with('\n')) text += '\n';
    return text;
  }

  // The first text is the program; all others are placed beside it.
  void files(runtime::JobBuilder& job) {
    const auto found = request_.find("files");
    if (found == request_.end() || !found->is_array())
      return refuse("files is required as an array");
    for (size_t i = 0; i < found->size() && fine(); ++i) {
      const json& file = (*found)[i];
      const auto content = file.is_object() ? file.find("content") : file.end();
      if (!file.is_object() || content == file.end() || !content->is_string())
        return refuse(fmt::format("files[{}].content is required as a string", i));
      const std::string encoding = text_or(file, "encoding", "utf8");
      const bool binary = encoding == "base64" || encoding == "hex";
      const std::string name = text_or(file, "name", fmt::format("file{}.code", i));
      if (!binary) names_.push_back(name);
      if (!binary && names_.size() == 1) {
        job.source(*content);
      } else if (encoding == "base64") {
        job.encoded_file(name, content->get_ref<const std::string&>());
      } else {
        job.file(name, encoding == "hex" ? from_hex(*content, i) : content->get<std::string>());
      }
    }
  }

 private:
  static constexpr double kMost = 1e15;

  static std::string text_or(const json& object, const char* name, std::string otherwise) {
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : otherwise;
  }

  std::string from_hex(const std::string& content, size_t i) {
    std::string bytes;
    for (size_t at = 0; at + 1 < content.size(); at += 2) {
      unsigned byte = 0;
      const char* begin = content.data() + at;
      if (std::from_chars(begin, begin + 2, byte, 16).ptr != begin + 2) break;
      bytes += static_cast<char>(byte);
    }
    if (bytes.size() * 2 != content.size()) refuse(fmt::format("files[{}].content is not hex", i));
    return bytes;
  }

  const json& request_;
  const Limits& limits_;
  std::string refusal_;
  std::vector<std::string> names_;
};

ordered_json stage(const runtime::JobResult& result) {
  const std::string out = text_of(result.out), err = text_of(result.err);
  return {{"stdout", out},
          {"stderr", err},
          {"output", out + err},
          {"code", nullptr},
          {"signal", nullptr},
          {"message", nullptr},
          {"status", nullptr},
          {"cpu_time", cpu_ms_of(result.usage)},
          {"wall_time", wall_ms_of(result.usage)},
          {"memory", result.usage.memory_peak_bytes / 1024 * 1024}};
}

void kill(ordered_json& stage, const char* status, const std::string& signal,
          json message = nullptr) {
  stage["status"] = status;
  stage["signal"] = signal;
  stage["message"] = std::move(message);
}

void end_by_itself(ordered_json& stage, const runtime::JobResult& result) {
  if (result.exit && result.exit->signalled) {
    const int signal = result.exit->code;
    return kill(stage, "SG", runtime::signal_name(signal),
                fmt::format("Caught fatal signal {}", signal));
  }
  const bool well = ended_well(result.verdict);
  const int code = result.exit ? result.exit->code : 0;
  stage["code"] = code != 0 || (result.exit && well) ? code : well ? 0 : 1;
  if (well) return;
  stage["status"] = "RE";
  stage["message"] = fmt::format("Exited with error status {}", stage["code"].get<int>());
}

void end(ordered_json& stage, const runtime::JobResult& result) {
  const runtime::Verdict& verdict = result.verdict;
  const std::string* named = detail_text(verdict, "limit");
  const std::string limit = named ? *named : "";
  if (is_not_the_programs(verdict)) {
    const std::string* message = detail_text(verdict, "message");
    stage["status"] = "XX";
    stage["message"] = verdict.label() + ": " + (message ? *message : text_of_detail(verdict));
    return;
  }
  switch (family_of(verdict.outcome)) {
    case Family::kTime:
      return kill(stage, "TO", "SIGKILL",
                  limit == "wall" ? "Time limit exceeded (wall clock)" : "Time limit exceeded");
    case Family::kOutput:
      return kill(stage, limit == "stderr" ? "EL" : "OL", "SIGKILL", limit + " length exceeded");
    case Family::kMemory:
      return kill(stage, "SG", "SIGKILL", "Memory limit exceeded");
    case Family::kOtherLimit:
      return kill(stage, "SG", "SIGKILL", verdict.label());
    case Family::kPolicy:
      if (verdict.outcome != Outcome::kUnsafeCode) break;
      return kill(stage, "SG", "SIGSYS", "UnsafeCode: " + text_of_detail(verdict));
    default:
      break;
  }
  end_by_itself(stage, result);
}

ordered_json compile_stage(const runtime::JobResult& result, bool failed) {
  ordered_json made = stage(result);
  if (failed) {
    made["code"] = 1;
    made["status"] = "RE";
    if (is_late_build(result.verdict)) {
      made["code"] = nullptr;
      kill(made, "TO", "SIGKILL", "Time limit exceeded");
    }
    return made;
  }
  for (const char* stream : {"stdout", "stderr", "output"}) made[stream] = "";
  made["code"] = 0;
  made["cpu_time"] = made["wall_time"] = build_ms_of(result.compile);
  made["memory"] = nullptr;
  return made;
}

std::variant<Execution, std::string> read_job(const json& body,
                                              const std::vector<Language>& languages,
                                              const Limits& limits,
                                              const runtime::JobDefaults& defaults, Input input) {
  Reader reader(body, limits);
  const std::string name = reader.text("language"), range = reader.text("version");
  runtime::JobBuilder job(defaults);
  job.argv(reader.argv());
  if (input == Input::kGiven) job.stdin_bytes(reader.input());
  reader.files(job);
  const Language* language = find_language(languages, name, range);
  if (!language) reader.refuse(fmt::format("{}-{} runtime is unknown", name, range));
  if (reader.names().empty()) reader.refuse("files must include at least one utf8 encoded file");
  reader.limits(job, input);
  if (!reader.fine()) return reader.refusal();
  const std::string& ours =
      language->template_name.empty() ? language->name : language->template_name;
  job.template_name(ours == "python" ? python_template(defaults) : ours);
  sys::Result<runtime::Job> read = std::move(job).finish();
  if (!read) return read.error().text();
  Execution execution{std::move(read).value(), *language};
  if (!language->package) return execution;
  for (const std::string& file : reader.names()) {
    if (const char* wrong = runtime::objection_to_path(file))
      return fmt::format("files: \"{}\" {}", file, wrong);
  }
  execution.job.source_names = reader.names();
  execution.job.source_name = reader.names().front();
  return execution;
}

}  // namespace

Response runtimes_response(const std::vector<Language>& languages) {
  ordered_json list = ordered_json::array();
  for (const Language& language : languages) {
    list.push_back({{"language", language.name},
                    {"version", text_of(language.version)},
                    {"aliases", language.aliases}});
  }
  return json_response(200, list);
}

Response message_response(int status, std::string_view message) {
  return json_response(status, {{"message", message}});
}

std::variant<Execution, Response> read_execute(const Request& request,
                                               const std::vector<Language>& languages,
                                               const Limits& limits,
                                               const runtime::JobDefaults& defaults) {
  const std::string* type = request.header("content-type");
  if (!type || !type->starts_with("application/json"))
    return message_response(415, "requests must be of type application/json");
  json body = parsed(request.body);
  if (body.is_array()) body = json::object();  // of which the original finds no field either
  if (!body.is_object())
    return json_response(400, {{"stack", "SyntaxError: the body is not a JSON object"}});
  auto read = read_job(body, languages, limits, defaults, Input::kGiven);
  if (const auto* refusal = std::get_if<std::string>(&read)) return message_response(400, *refusal);
  return std::get<Execution>(std::move(read));
}

std::variant<Execution, std::string> read_init(std::string_view text,
                                               const std::vector<Language>& languages,
                                               const Limits& limits,
                                               const runtime::JobDefaults& defaults) {
  const json body = parsed(text);
  if (!body.is_object()) return "the message is not a JSON object";
  runtime::JobDefaults once = defaults;
  once.job.determinism_runs = 1;
  once.job.tests.clear();
  return read_job(body, languages, limits, once, Input::kLive);
}

Ending ending_of(const runtime::JobResult& result) {
  Ending ending;
  ending.compile_failed = result.verdict.outcome == Outcome::kCompilationError;
  ordered_json ran = ending.compile_failed ? compile_stage(result, true) : stage(result);
  if (!ending.compile_failed) end(ran, result);
  if (ran.at("status") == "XX") ending.why = ran.at("message");
  if (ending.compile_failed) ending.complaint = ran.at("stderr");
  ending.code = ran.at("code").dump();
  ending.signal = ran.at("signal").dump();
  return ending;
}

Response execute_response(const runtime::JobResult& result, const Language& language) {
  const bool failed = result.verdict.outcome == Outcome::kCompilationError;
  ordered_json answer;
  if (language.compiled) answer["compile"] = compile_stage(result, failed);
  if (failed) {
    answer["run"] = answer["compile"];
  } else {
    answer["run"] = stage(result);
    end(answer["run"], result);
  }
  answer["language"] = language.name;
  answer["version"] = text_of(language.version);
  answer["zygo"] = facts_of(result);
  answer["zygo"]["template"] = result.template_id;
  return json_response(200, answer);
}

}  // namespace service::piston
