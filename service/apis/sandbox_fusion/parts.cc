#include "service/apis/sandbox_fusion/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/judging/signal_names.h"
#include "runtime/values/json_text.h"
#include "service/apis/parsed.h"

namespace service::sandbox_fusion {

namespace {

constexpr std::string_view kPython = "python";
constexpr std::string_view kHome = "/tmp/";  // where programs run
// With the options of the original's runners: what it checks, a program must fail here, too.
constexpr std::array kLanguages = std::to_array<Language>({
    {"python", kPython},
    {"cpp", "cpp17-unoptimised"},
    {"nodejs", "javascript"},
    {"go", "go"},
    {"go_test", ""},
    {"java", "java-assertions"},
    {"php", "php"},
    {"csharp", ""},
    {"bash", "bash"},
    {"typescript", ""},
    {"sql", ""},
    {"rust", "rust-unoptimised"},
    {"cuda", ""},
    {"lua", "lua"},
    {"R", "r"},
    {"perl", "perl"},
    {"D_ut", ""},
    {"ruby", "ruby"},
    {"scala", ""},
    {"julia", ""},
    {"pytest", ""},
    {"junit", ""},
    {"kotlin_script", ""},
    {"jest", ""},
    {"verilog", ""},
    {"python_gpu", ""},
    {"lean", ""},
    {"swift", ""},
    {"racket", ""},
});

constexpr double kMostSeconds = 86'400;

std::string language_names() {
  std::string names;
  for (const Language& language : kLanguages) {
    if (!names.empty()) names += &language == &kLanguages.back() ? " or " : ", ";
    names += fmt::format("'{}'", language.name);
  }
  return names;
}

std::string dumped(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
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
  // A wrong answer is one of a program that ended well.
  const bool well = label == "OK" || label == "WrongAnswer" || label == "NonDeterministicCode";
  return result.at("by") == "program" && !well ? 1 : 0;
}

std::string message_of(const json& result) {
  const json& detail = result.at("detail");
  const auto message = detail.find("message");
  if (message != detail.end() && message->is_string()) return *message;
  return result.at("label").get<std::string>() + ": " + detail.dump();
}

}  // namespace

void Complaints::add(std::string_view type, const Where& where, std::string_view message) {
  ordered_json path = {"body"};
  for (const std::string& step : where) path.push_back(step);
  list_.push_back({{"type", type}, {"loc", std::move(path)}, {"msg", message}});
}

Response Complaints::response() const {
  return {.status = 422, .body = dumped({{"detail", list_}})};
}

std::optional<json> read_object(std::string_view body, Complaints& complaints, int deepest) {
  json request = parsed(body, deepest);
  if (request.is_discarded()) {
    complaints.add("json_invalid", {}, "JSON decode error");
  } else if (!request.is_object()) {
    complaints.add("model_attributes_type", {}, "Input should be a valid dictionary");
  } else {
    return request;
  }
  return std::nullopt;
}

const json* Fields::find(const char* name) const {
  const auto found = object_.find(name);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

void Fields::complain(std::string_view type, const char* name, std::string_view message) {
  Complaints::Where where = where_;
  where.emplace_back(name);
  complaints_.add(type, where, message);
}

std::string Fields::text(const char* name, bool required) {
  if (required && !has(name)) complain("missing", name, "Field required");
  const json* found = find(name);
  if (found && found->is_string()) return found->get<std::string>();
  if (found || (required && has(name)))
    complain("string_type", name, "Input should be a valid string");
  return "";
}

std::optional<double> Fields::seconds(const char* name) {
  if (!has(name)) return std::nullopt;
  const json* found = find(name);
  if (found && found->is_number()) {
    const auto value = found->get<double>();
    if (std::isfinite(value) && value > 0) return std::min(value, kMostSeconds);
  }
  complain("float_type", name, "Input should be a valid number above 0");
  return std::nullopt;
}

std::optional<double> Fields::seconds_or_none(const char* name) {
  const json* found = find(name);
  return !found || *found == 0 ? std::nullopt : seconds(name);
}

int64_t Fields::whole(const char* name) {
  if (!has(name)) return -1;
  const json* found = find(name);
  if (found && found->is_number_integer()) return found->get<int64_t>();
  complain("int_type", name, "Input should be a valid integer");
  return -1;
}

const Language* Fields::language(const char* name, const Language* otherwise) {
  if (!has(name)) return otherwise;
  const std::string given = text(name, true);
  for (const Language& language : kLanguages) {
    if (language.name == given) return &language;
  }
  if (find(name) && find(name)->is_string())
    complain("literal_error", name, "Input should be " + language_names());
  return nullptr;
}

std::vector<std::string> Fields::texts(const char* name, bool required) {
  if (required && !has(name)) complain("missing", name, "Field required");
  const json* found = find(name);
  std::vector<std::string> list;
  bool good = !has(name) || (!found && !required) || (found && found->is_array());
  if (found && good) {
    for (const json& one : *found) {
      if (one.is_string()) {
        list.push_back(one);
      } else {
        good = false;
      }
    }
  }
  if (!good) complain("list_type", name, "Input should be a valid list of strings");
  return list;
}

json Fields::files() {
  json placed = json::object();
  const json* found = find("files");
  if (!found) return placed;
  if (!found->is_object()) {
    complain("dict_type", "files", "Input should be a valid dictionary");
    return placed;
  }
  for (const auto& [path, content] : found->items()) {
    if (content.is_string()) {
      placed[path.starts_with(kHome) ? path.substr(kHome.size()) : path] = {{"b64", content}};
    } else if (!content.is_null()) {
      complain("string_type", "files", "Input should be a valid string: " + path);
    }
  }
  return placed;
}

void Fields::fetch_files(json& job) {
  json outputs = json::array(), by_full_path = json::array();
  for (const std::string& path : texts("fetch_files", false)) {
    if (path.starts_with(kHome)) {
      by_full_path.push_back(path);
      if (path.size() > kHome.size()) outputs.push_back(path.substr(kHome.size()));
    } else if (!path.starts_with('/')) {  // elsewhere there is nothing of a program's
      outputs.push_back(path);
    }
  }
  job["outputs"] = std::move(outputs);
  if (!by_full_path.empty()) job["tag"] = std::move(by_full_path);
}

const Language& python() { return kLanguages.front(); }

std::string template_of(const Language& language, const runtime::JobDefaults& defaults) {
  return language.runtime == kPython ? python_template(defaults) : std::string(language.runtime);
}

std::string source_of(const Language& language, const std::string& code) {
  constexpr std::string_view kTag = "<?php";
  if (language.name != "php") return code;
  const size_t begin = std::min(code.find_first_not_of(" \t\n\r\f\v"), code.size());
  const std::string text = code.substr(begin);
  return text.starts_with(kTag) ? text : std::string(kTag) + "\n" + text;
}

Response not_offered(const Language& language) {
  return detail_response(400, fmt::format("language {} is not offered here", language.name));
}

Response detail_response(int status, std::string_view detail) {
  return {.status = status, .body = dumped({{"detail", detail}})};
}

int64_t milliseconds_of(double seconds) { return static_cast<int64_t>(std::ceil(seconds * 1000)); }

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
  const json by_full_path = result.value("tag", json());
  for (const json& name : by_full_path.is_array() ? by_full_path : json::array()) {
    const std::string path = name.is_string() ? name.get<std::string>() : "";
    if (!path.starts_with(kHome)) continue;
    if (const auto found = files.find(path.substr(kHome.size())); found != files.end())
      files[path] = json(*found);
  }
  return files;
}

Account account_of(const json& result) {
  const std::string label = result.at("label");
  const json& out = result.at("stdout").at("text");
  const json& err = result.at("stderr").at("text");
  const json wall = result.at("usage").at("wall_ms");
  const auto compile = result.find("compile");
  Account made;
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

ordered_json our_facts(const json& result) {
  ordered_json ours;
  for (const char* key : {"id", "label", "by", "detail", "usage", "level", "template"}) {
    if (result.contains(key)) ours[key] = result.at(key);
  }
  return ours;
}

ordered_json run_code_answer(const json& result) {
  Account account = account_of(result);
  return {{"status", account.status},
          {"message", account.message},
          {"compile_result", std::move(account.compile)},
          {"run_result", std::move(account.run)},
          {"executor_pod_name", nullptr},
          {"files", files_of(result)},
          {"zygo", our_facts(result)}};
}

}  // namespace service::sandbox_fusion
