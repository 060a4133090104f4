#include "service/foreign/sandbox_fusion.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "runtime/json_text.h"
#include "runtime/signal_names.h"
#include "service/foreign/apis.h"
#include "service/foreign/parsed.h"

namespace service::sandbox_fusion {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

struct Language {
  std::string_view name;
  std::string_view runtime;  // ours; empty: none of them
};
constexpr std::string_view kPython = "python";
constexpr std::array kLanguages = std::to_array<Language>({
    {"python", kPython}, {"cpp", "cpp17"},      {"nodejs", "javascript"},
    {"go", "go"},        {"go_test", ""},       {"java", "java"},
    {"php", "php"},      {"csharp", ""},        {"bash", "bash"},
    {"typescript", ""},  {"sql", ""},           {"rust", "rust"},
    {"cuda", ""},        {"lua", "lua"},        {"R", "r"},
    {"perl", "perl"},    {"D_ut", ""},          {"ruby", "ruby"},
    {"scala", ""},       {"julia", ""},         {"pytest", ""},
    {"junit", ""},       {"kotlin_script", ""}, {"jest", ""},
    {"verilog", ""},     {"python_gpu", ""},    {"lean", ""},
    {"swift", ""},       {"racket", ""},
});

constexpr double kUsualSeconds = 10, kMostSeconds = 86'400;

// What is wrong with a request, in the words of pydantic: a list of all that is.
class Complaints {
 public:
  void add(std::string_view type, std::string_view field, std::string_view message) {
    list_.push_back({{"type", type}, {"loc", {"body", field}}, {"msg", message}});
  }
  void of_whole(std::string_view type, std::string_view message) {
    list_.push_back({{"type", type}, {"loc", {"body"}}, {"msg", message}});
  }
  bool empty() const { return list_.empty(); }
  Response response() const {
    return {.status = 422, .body = ordered_json{{"detail", list_}}.dump() + "\n"};
  }

 private:
  ordered_json list_ = ordered_json::array();
};

Response detail_response(int status, std::string_view detail) {
  const auto replace = ordered_json::error_handler_t::replace;
  return {.status = status,
          .body = ordered_json{{"detail", detail}}.dump(-1, ' ', false, replace) + "\n"};
}

std::string language_names() {
  std::string names;
  for (const Language& language : kLanguages) {
    if (!names.empty()) names += &language == &kLanguages.back() ? " or " : ", ";
    names += fmt::format("'{}'", language.name);
  }
  return names;
}

// The fields of one request; each reader complains and goes on.
class Fields {
 public:
  Fields(const json& object, Complaints& complaints) : object_(object), complaints_(complaints) {}

  std::string text(const char* name, bool required) {
    const json* found = find(name);
    if (!found && required) complaints_.add("missing", name, "Field required");
    if (!found || (found->is_null() && !required)) return "";
    if (found->is_string()) return found->get<std::string>();
    complaints_.add("string_type", name, "Input should be a valid string");
    return "";
  }

  double seconds(const char* name) {
    const json* found = find(name);
    if (!found) return kUsualSeconds;
    if (found->is_number()) {
      const auto value = found->get<double>();
      if (std::isfinite(value) && value > 0) return std::min(value, kMostSeconds);
    }
    complaints_.add("float_type", name, "Input should be a valid number above 0");
    return kUsualSeconds;
  }

  // Negative: no limit is asked for.
  int64_t whole(const char* name) {
    const json* found = find(name);
    if (!found) return -1;
    if (found->is_number_integer()) return found->get<int64_t>();
    complaints_.add("int_type", name, "Input should be a valid integer");
    return -1;
  }

  const Language* language() {
    if (!find("language")) return &kLanguages.front();  // a kindness to clients that leave it out
    const std::string name = text("language", true);
    for (const Language& language : kLanguages) {
      if (language.name == name) return &language;
    }
    complaints_.add("literal_error", "language", "Input should be " + language_names());
    return nullptr;
  }

  json files() {
    json placed = json::object();
    const json* found = find("files");
    if (!found || found->is_null()) return placed;
    if (!found->is_object()) {
      complaints_.add("dict_type", "files", "Input should be a valid dictionary");
      return placed;
    }
    for (const auto& [path, content] : found->items()) {
      if (content.is_string()) {
        placed[path] = {{"b64", content}};
      } else if (!content.is_null()) {
        complaints_.add("string_type", "files", "Input should be a valid string: " + path);
      }
    }
    return placed;
  }

  json fetch_files() {
    const json* found = find("fetch_files");
    if (!found || found->is_null()) return json::array();
    bool good = found->is_array();
    for (const json& path : *found) good = good && path.is_string();
    if (good) return *found;
    complaints_.add("list_type", "fetch_files", "Input should be a valid list of strings");
    return json::array();
  }

 private:
  const json* find(const char* name) const {
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }

  const json& object_;
  Complaints& complaints_;
};

json job_of(Fields& fields, const Language* language, const runtime::JobDefaults& defaults) {
  const double run = fields.seconds("run_timeout");
  fields.seconds("compile_timeout");  // a runtime's own limit holds
  const auto milliseconds = static_cast<int64_t>(std::ceil(run * 1000));
  json job = {{"source", fields.text("code", true)},
              {"stdin", fields.text("stdin", false)},
              {"files", fields.files()},
              {"outputs", fields.fetch_files()},
              {"limits", {{"wall_ms", milliseconds}, {"cpu_ms", milliseconds}}}};
  if (const int64_t megabytes = fields.whole("memory_limit_MB"); megabytes > 0)
    job["limits"]["memory_mb"] = megabytes;
  if (language) {
    const bool python = language->runtime == kPython;
    job["template"] = python ? python_template(defaults) : std::string(language->runtime);
  }
  return job;
}

ordered_json command(std::string_view status, const json& milliseconds, json code, json out,
                     json err) {
  const double seconds = milliseconds.is_number() ? milliseconds.get<double>() / 1000 : 0;
  return {{"status", status},
          {"execution_time", seconds},
          {"return_code", std::move(code)},
          {"stdout", std::move(out)},
          {"stderr", std::move(err)}};
}

// As the original has it: -n for the signal n. What a limit or the policy ended has the signal that
// a kernel would have sent for it.
json return_code(const json& result) {
  const std::string label = result.at("label");
  if (label == "UnsafeCode") return -31;  // SIGSYS
  if (label.ends_with("LimitExceeded")) return -9;
  const json& exit = result.at("exit");
  if (exit.at("signal").is_string()) {
    const std::optional<int> number = runtime::signal_number(exit.at("signal").get<std::string>());
    return number ? json(-*number) : json();
  }
  if (exit.at("code").is_number() && exit.at("code") != 0) return exit.at("code");
  return result.at("by") == "program" && label != "OK" && label != "NonDeterministicCode" ? 1 : 0;
}

std::string message_of(const json& result) {
  const json& detail = result.at("detail");
  const auto message = detail.find("message");
  if (message != detail.end() && message->is_string()) return *message;
  return result.at("label").get<std::string>() + ": " + detail.dump();
}

ordered_json files_of(const json& result) {
  ordered_json files = ordered_json::object();
  const auto outputs = result.find("outputs");
  if (outputs == result.end()) return files;
  for (const auto& [path, file] : outputs->items()) {
    if (file.contains("b64")) {
      files[path] = file.at("b64");
    } else if (file.contains("text")) {
      std::string encoded;
      runtime::append_base64(file.at("text").get<std::string>(), encoded);
      files[path] = encoded;
    }
  }
  return files;
}

struct Commands {
  std::string_view status = "Success";
  std::string message;
  ordered_json compile, run;  // null: there was none
};

Commands commands_of(const json& result) {
  const std::string label = result.at("label");
  const json& out = result.at("stdout").at("text");
  const json& err = result.at("stderr").at("text");
  const json wall = result.at("usage").at("wall_ms");
  const auto compile = result.find("compile");
  Commands made;
  if (label == "CompilationError") {
    const bool late = result.at("detail").value("ended_as", "") == "TimeoutException";
    made.status = "Failed";
    made.compile = command(late ? "TimeLimitExceeded" : "Finished",
                           compile == result.end() ? json(0) : compile->at("wall_ms"),
                           late ? json() : json(1), out, err);
    return made;
  }
  if (compile != result.end())
    made.compile = command("Finished", compile->at("wall_ms"), 0, "", "");
  if (result.at("by") == "sandbox" || result.at("by") == "caller") {
    made.status = "SandboxError";
    made.message = message_of(result);
    made.run = command("Error", wall, json(), out, made.message);
    return made;
  }
  const bool late = label == "TimeoutException";
  const json code = late ? json() : return_code(result);
  made.run = command(late ? "TimeLimitExceeded" : "Finished", wall, code, out, err);
  if (late || code != 0) made.status = "Failed";
  return made;
}

}  // namespace

std::variant<runtime::Job, Response> read_run_code(std::string_view body,
                                                   const runtime::JobDefaults& defaults) {
  const json request = parsed(body);
  Complaints complaints;
  if (request.is_discarded()) {
    complaints.of_whole("json_invalid", "JSON decode error");
    return complaints.response();
  }
  if (!request.is_object()) {
    complaints.of_whole("model_attributes_type", "Input should be a valid dictionary");
    return complaints.response();
  }
  Fields fields(request, complaints);
  const Language* language = fields.language();
  const json job = job_of(fields, language, defaults);
  if (!complaints.empty()) return complaints.response();
  if (language->runtime.empty()) {
    return detail_response(400, fmt::format("language {} is not offered here", language->name));
  }
  sys::Result<runtime::Job> read = runtime::parse_job(job.dump(), defaults);
  if (!read) return detail_response(400, read.error().text());
  return std::move(read).value();
}

Response run_code_response(std::string_view text) {
  const json result = json::parse(text);
  Commands made = commands_of(result);
  ordered_json answer = {{"status", made.status},
                         {"message", made.message},
                         {"compile_result", std::move(made.compile)},
                         {"run_result", std::move(made.run)},
                         {"executor_pod_name", nullptr},
                         {"files", files_of(result)}};
  ordered_json& ours = answer["zygo"];
  for (const char* key : {"id", "label", "by", "detail", "usage", "level", "template"})
    ours[key] = result.at(key);
  return {.body = answer.dump() + "\n"};
}

Response try_again(std::string_view why) { return detail_response(504, why); }

}  // namespace service::sandbox_fusion
