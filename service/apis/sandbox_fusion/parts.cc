#include "service/apis/sandbox_fusion/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>

#include "runtime/values/json_text.h"
#include "runtime/values/utf8.h"
#include "service/apis/parsed.h"
#include "service/apis/results.h"

namespace service::sandbox_fusion {

using runtime::Outcome;

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

constexpr double kMostSeconds = static_cast<double>(runtime::kDayMs) / 1000;

std::string language_names() {
  std::string names;
  for (const Language& language : kLanguages) {
    if (!names.empty()) names += &language == &kLanguages.back() ? " or " : ", ";
    names += fmt::format("'{}'", language.name);
  }
  return names;
}

ordered_json command(std::string_view status, int64_t milliseconds, json code, std::string out,
                     std::string err) {
  return {{"status", status},
          {"execution_time", static_cast<double>(milliseconds) / 1000},
          {"return_code", std::move(code)},
          {"stdout", std::move(out)},
          {"stderr", std::move(err)}};
}

// As the original has it: -n for the signal n. What a limit or the policy ended has the signal that
// a kernel would have sent for it.
int return_code(const Ran& ran) {
  const runtime::Verdict& verdict = ran.verdict;
  if (verdict.outcome == Outcome::kUnsafeCode) return -SIGSYS;
  if (met_limit_of_space(verdict)) return -SIGKILL;
  if (ran.exit && ran.exit->signalled) return -ran.exit->code;
  if (ran.exit && ran.exit->code != 0) return ran.exit->code;
  // A wrong answer is one of a program that ended well.
  const bool well = ended_well(verdict) || verdict.outcome == Outcome::kWrongAnswer;
  return verdict.by == runtime::By::kProgram && !well ? 1 : 0;
}

std::string message_of(const runtime::Verdict& verdict) {
  const std::string* message = detail_text(verdict, "message");
  return message ? *message : verdict.label() + ": " + text_of_detail(verdict);
}

ordered_json facts_of(const Ran& ran) {
  return {{"label", ran.verdict.label()},
          {"by", name_of(ran.verdict.by)},
          {"detail", detail_of(ran.verdict)},
          {"usage", usage_of(ran.usage)}};
}

ordered_json answer_of(const Ran& ran, ordered_json files, ordered_json facts) {
  Account account = account_of(ran);
  return {{"status", account.status},
          {"message", account.message},
          {"compile_result", std::move(account.compile)},
          {"run_result", std::move(account.run)},
          {"executor_pod_name", nullptr},
          {"files", std::move(files)},
          {"zygo", std::move(facts)}};
}

}  // namespace

void Complaints::add(std::string_view type, const Where& where, std::string_view message) {
  ordered_json path = {"body"};
  for (const std::string& step : where) path.push_back(step);
  list_.push_back({{"type", type}, {"loc", std::move(path)}, {"msg", message}});
}

Response Complaints::response() const {
  return {.status = 422, .body = line_of({{"detail", list_}})};
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

void Fields::place_files(runtime::JobBuilder& job) {
  const json* found = find("files");
  if (!found) return;
  if (!found->is_object())
    return complain("dict_type", "files", "Input should be a valid dictionary");
  for (const auto& [path, content] : found->items()) {
    if (content.is_string()) {
      job.encoded_file(path.starts_with(kHome) ? path.substr(kHome.size()) : path,
                       content.get_ref<const std::string&>());
    } else if (!content.is_null()) {
      complain("string_type", "files", "Input should be a valid string: " + path);
    }
  }
}

void Fields::fetch_files(runtime::JobBuilder& job) {
  std::vector<std::string> outputs;
  json by_full_path = json::array();
  for (const std::string& path : texts("fetch_files", false)) {
    if (path.starts_with(kHome)) {
      by_full_path.push_back(path);
      if (path.size() > kHome.size()) outputs.push_back(path.substr(kHome.size()));
    } else if (!path.starts_with('/')) {  // elsewhere there is nothing of a program's
      outputs.push_back(path);
    }
  }
  job.outputs(std::move(outputs));
  if (!by_full_path.empty()) job.tag(by_full_path.dump());
}

void Fields::limit_time(runtime::JobBuilder& job, double seconds) {
  const auto milliseconds = static_cast<int64_t>(std::ceil(seconds * 1000));
  for (const char* limit : {"wall_ms", "cpu_ms"}) job.limit(limit, milliseconds);
}

void Fields::limit_memory(runtime::JobBuilder& job) {
  if (const int64_t megabytes = whole("memory_limit_MB"); megabytes > 0)
    job.limit("memory_mb", megabytes);
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
  return {.status = status, .body = line_of({{"detail", detail}})};
}

int http_status_of(const runtime::Verdict& verdict) {
  const bool may_be_tried_again =
      verdict.by == runtime::By::kSandbox || verdict.outcome == Outcome::kCancelled;
  return may_be_tried_again ? 504 : 200;
}

Ran ran_of(const runtime::JobResult& result) {
  return {result.verdict, result.exit, result.out, result.err, result.usage, result.compile};
}

Ran ran_of(const runtime::TestResult& test, const std::optional<runtime::CompileReport>& compile) {
  return {test.verdict, test.exit, test.out, test.err, test.usage, compile};
}

ordered_json files_of(const runtime::JobResult& result) {
  ordered_json files = ordered_json::object();
  for (const runtime::InputFile& file : result.files.files) {
    std::string encoded;
    runtime::append_base64(file.content, encoded);
    files[runtime::repaired_utf8(file.path)] = std::move(encoded);
  }
  const json by_full_path = parsed(result.tag);
  for (const json& name : by_full_path.is_array() ? by_full_path : json::array()) {
    const std::string path = name.is_string() ? name.get<std::string>() : "";
    if (!path.starts_with(kHome)) continue;
    if (const auto found = files.find(path.substr(kHome.size())); found != files.end())
      files[path] = json(*found);
  }
  return files;
}

Account account_of(const Ran& ran) {
  const std::string out = text_of(ran.out), err = text_of(ran.err);
  const int64_t wall = wall_ms_of(ran.usage), built = build_ms_of(ran.compile);
  Account made;
  if (ran.verdict.outcome == Outcome::kCompilationError) {
    const bool late = is_late_build(ran.verdict);
    made.status = "Failed";
    made.compile =
        command(late ? "TimeLimitExceeded" : "Finished", built, late ? json() : json(1), out, err);
    return made;
  }
  if (ran.compile) made.compile = command("Finished", built, 0, "", "");
  if (is_not_the_programs(ran.verdict)) {
    made.status = "SandboxError";
    made.message = message_of(ran.verdict);
    made.run = command("Error", wall, json(), out, made.message);
    return made;
  }
  const bool late = ran.verdict.outcome == Outcome::kTimeout;
  const int code = return_code(ran);
  made.run =
      command(late ? "TimeLimitExceeded" : "Finished", wall, late ? json() : json(code), out, err);
  if (late || code != 0) made.status = "Failed";
  return made;
}

ordered_json our_facts(const runtime::JobResult& result) {
  ordered_json ours = {{"id", result.id}};
  ours.update(facts_of(ran_of(result)));
  ours["level"] = level_of(result);
  ours["template"] = result.template_id;
  return ours;
}

ordered_json run_code_answer(const runtime::JobResult& result) {
  return answer_of(ran_of(result), files_of(result), our_facts(result));
}

ordered_json run_code_answer(const runtime::TestResult& test,
                             const std::optional<runtime::CompileReport>& compile) {
  const Ran ran = ran_of(test, compile);
  return answer_of(ran, ordered_json::object(), facts_of(ran));
}

}  // namespace service::sandbox_fusion
