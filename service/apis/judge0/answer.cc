#include "service/apis/judge0/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/values/json_text.h"
#include "runtime/values/utf8.h"
#include "sandbox/sys/utc.h"
#include "service/apis/results.h"

namespace service::judge0 {

using nlohmann::ordered_json;

namespace {

// Its clients know languages by it.
constexpr std::string_view kVersion = "1.13.1", kExtraVersion = "1.13.1-extra";
constexpr std::string_view kOurs = "zygo";

// Base64 in lines, as MIME has it.
std::string lines_of_base64(std::string_view bytes) {
  constexpr size_t kBytesInLine = 45;
  std::string text;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(kBytesInLine, bytes.size()))) {
    runtime::append_base64(bytes.substr(0, kBytesInLine), text);
    text += '\n';
  }
  return text;
}

}  // namespace

// A submission while its fields are told.
struct Telling {
  const Submission& submission;
  Encoding encoding;
  bool has_bytes = false;  // some text was none, and would have needed base64

  ordered_json text(const std::string& bytes) {
    if (encoding == Encoding::kBase64) return lines_of_base64(bytes);
    if (runtime::is_utf8(bytes)) return bytes;
    has_bytes = true;
    return nullptr;
  }
  ordered_json text(const std::optional<std::string>& bytes) {
    return bytes ? text(*bytes) : ordered_json();
  }
  ordered_json text(std::optional<std::string> Ending::*member) {
    return submission.ending ? text((*submission.ending).*member) : ordered_json();
  }
  template <class T>
  ordered_json plain(std::optional<T> Ending::*member) const {
    if (!submission.ending || !((*submission.ending).*member)) return nullptr;
    return *((*submission.ending).*member);
  }
  ordered_json seconds(std::optional<int64_t> Ending::*member) const {
    if (!submission.ending || !((*submission.ending).*member)) return nullptr;
    constexpr double kMicros = 1e6;
    return fmt::format("{:.3f}", static_cast<double>(*((*submission.ending).*member)) / kMicros);
  }
};

namespace {

ordered_json time_json(int64_t ms) {
  if (ms == 0) return nullptr;
  return sys::utc_text(sys::Milliseconds(ms));
}

ordered_json optional_json(const std::optional<std::string>& text) {
  return text ? ordered_json(*text) : ordered_json();
}

ordered_json language_json(const Asked& asked) {
  return {{"id", asked.language_id}, {"name", asked.language_name}};
}

template <size_t Index>
ordered_json amount(Telling& telling) {
  constexpr const AmountRule& rule = kAmounts[Index];
  const double value = telling.submission.asked->amounts.*rule.member;
  return rule.is_whole ? ordered_json(static_cast<int64_t>(value))
                       : ordered_json(text_of(rule, value));
}

ordered_json no(Telling&) { return false; }

}  // namespace

struct Field {
  std::string_view name;
  ordered_json (*of)(Telling&);
  bool is_usual = false;  // it is told where none is named
};

namespace {

// In the original's order.
constexpr Field kFields[] = {
    {"source_code", [](Telling& of) { return of.text(of.submission.asked->source_code); }},
    {"language_id", [](Telling& of) { return ordered_json(of.submission.asked->language_id); }},
    {"stdin", [](Telling& of) { return of.text(of.submission.asked->in); }},
    {"expected_output", [](Telling& of) { return of.text(of.submission.asked->expected_output); }},
    {"stdout", [](Telling& of) { return of.text(&Ending::out); }, true},
    {"status_id", [](Telling& of) { return ordered_json(static_cast<int>(of.submission.status)); }},
    {"created_at", [](Telling& of) { return time_json(of.submission.created_ms); }},
    {"finished_at", [](Telling& of) { return time_json(of.submission.finished_ms); }},
    {"time", [](Telling& of) { return of.seconds(&Ending::cpu_us); }, true},
    {"memory", [](Telling& of) { return of.plain(&Ending::memory_kb); }, true},
    {"stderr", [](Telling& of) { return of.text(&Ending::err); }, true},
    {"token", [](Telling& of) { return ordered_json(of.submission.token); }, true},
    {"number_of_runs", amount<7>},
    {"cpu_time_limit", amount<0>},
    {"cpu_extra_time", amount<1>},
    {"wall_time_limit", amount<2>},
    {"memory_limit", amount<3>},
    {"stack_limit", amount<4>},
    {"max_processes_and_or_threads", amount<5>},
    {"enable_per_process_and_thread_time_limit", no},
    {"enable_per_process_and_thread_memory_limit", no},
    {"max_file_size", amount<6>},
    {"compile_output", [](Telling& of) { return of.text(&Ending::compile_output); }, true},
    {"exit_code", [](Telling& of) { return of.plain(&Ending::exit_code); }},
    {"exit_signal", [](Telling& of) { return of.plain(&Ending::exit_signal); }},
    {"message", [](Telling& of) { return of.text(&Ending::message); }, true},
    {"wall_time", [](Telling& of) { return of.seconds(&Ending::wall_us); }},
    {"compiler_options",
     [](Telling& of) { return optional_json(of.submission.asked->compiler_options); }},
    {"command_line_arguments",
     [](Telling& of) { return optional_json(of.submission.asked->command_line_arguments); }},
    {"redirect_stderr_to_stdout", no},
    {"callback_url", [](Telling& of) { return optional_json(of.submission.asked->callback_url); }},
    {"additional_files",
     [](Telling& of) { return optional_json(of.submission.asked->additional_files); }},
    {"enable_network", no},
    {"status", [](Telling& of) { return json_of(of.submission.status); }, true},
    {"language", [](Telling& of) { return language_json(*of.submission.asked); }},
    {kOurs,
     [](Telling& of) {
       return of.submission.ending ? of.submission.ending->facts : ordered_json();
     },
     true},
};

ordered_json json_of(Telling& telling, const std::vector<const Field*>& fields) {
  ordered_json object = ordered_json::object();
  for (const Field* field : fields) object[std::string(field->name)] = field->of(telling);
  return object;
}

std::vector<std::string> parts_of(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::string_view part = list.substr(0, list.find(','));
    list.remove_prefix(std::min(part.size() + 1, list.size()));
    if (!part.empty()) parts.emplace_back(part);
  }
  return parts;
}

bool is_set(const Request& request, std::string_view name) {
  const std::string* value = request.query_value(name);
  return value && *value == "true";
}

const Field* field_named(std::string_view name) {
  const auto* found = std::ranges::find(kFields, name, &Field::name);
  return found == std::end(kFields) ? nullptr : found;
}

// All of the original's: its own client takes a field that it does not know for an error.
void add_all(std::vector<const Field*>& fields) {
  for (const Field& field : kFields) {
    if (field.name != kOurs) fields.push_back(&field);
  }
}

void add_usual(std::vector<const Field*>& fields) {
  for (const Field& field : kFields) {
    if (field.is_usual) fields.push_back(&field);
  }
}

}  // namespace

Encoding encoding_in(const Request& request) {
  return is_set(request, "base64_encoded") ? Encoding::kBase64 : Encoding::kPlain;
}

std::variant<Query, Response> read_query(const Request& request) {
  Query query;
  query.encoding = encoding_in(request);
  query.wait = is_set(request, "wait");
  const std::string* named = request.query_value("fields");
  std::string unknown;
  for (const std::string& name : parts_of(named ? *named : "")) {
    const Field* field = field_named(name);
    if (name == "*") {
      add_all(query.fields);
    } else if (field) {
      query.fields.push_back(field);
    } else {
      unknown += (unknown.empty() ? "" : ", ") + name;
    }
  }
  if (!unknown.empty()) return refusal(400, fmt::format("invalid fields: [{}]", unknown));
  if (query.fields.empty()) add_usual(query.fields);
  return query;
}

std::vector<std::string> tokens_in(const Request& request) {
  const std::string* header = request.header("tokens");
  const std::string* given = header ? header : request.query_value("tokens");
  return parts_of(given ? *given : "");
}

Response submission_response(int status, const Submission& submission, const Query& query) {
  Telling telling{submission, query.encoding};
  ordered_json object = json_of(telling, query.fields);
  if (!telling.has_bytes) return {.status = status, .body = line_of(object)};
  ordered_json error = {{"error",
                         "some attributes for this submission cannot be converted to UTF-8, use "
                         "base64_encoded=true query parameter"}};
  if (status != 201) return {.status = 400, .body = line_of(error)};
  error["token"] = submission.token;
  return {.status = status, .body = line_of(error)};
}

std::string callback_body(const Submission& submission) {
  Query query{.encoding = Encoding::kBase64, .fields = {}, .wait = false};
  add_usual(query.fields);
  return submission_response(200, submission, query).body;
}

Response batch_response(const std::vector<std::optional<Submission>>& batch, const Query& query) {
  ordered_json list = ordered_json::array();
  for (const std::optional<Submission>& submission : batch) {
    if (!submission) {
      list.push_back(nullptr);
      continue;
    }
    Telling telling{*submission, query.encoding};
    list.push_back(json_of(telling, query.fields));
    if (telling.has_bytes)
      return refusal(400,
                     "some attributes for one or more submissions cannot be converted to UTF-8, "
                     "use base64_encoded=true query parameter");
  }
  return {.body = line_of({{"submissions", std::move(list)}})};
}

size_t bytes_told(const Submission& submission) {
  return submission.asked->bytes() + (submission.ending ? submission.ending->bytes() : 0);
}

Response no_submission() {
  return refusal(404, "there is no submission with this token, or no more");
}

Response statuses_response() {
  ordered_json list = ordered_json::array();
  for (const Status status : kStatuses) list.push_back(json_of(status));
  return {.body = line_of(list)};
}

Response about_response(Edition edition, std::string_view zygo_version) {
  return {.body = line_of({{"version", edition == Edition::kCe ? kVersion : kExtraVersion},
                           {"homepage", nullptr},
                           {"source_code", nullptr},
                           {"maintainer", nullptr},
                           {"zygo", zygo_version}})};
}

Response config_response(size_t most_queued, bool has_callbacks) {
  const auto seconds = [](sys::Milliseconds time) {
    return std::chrono::duration<double>(time).count();
  };
  ordered_json config = {{"maintenance_mode", false},
                         {"enable_wait_result", true},
                         {"enable_compiler_options", true},
                         {"allowed_languages_for_compile_options", ordered_json::array()},
                         {"enable_command_line_arguments", true},
                         {"enable_submission_delete", true},
                         {"enable_callbacks", has_callbacks},
                         {"callbacks_max_tries", has_callbacks ? Callbacks::kMostTries : 0},
                         {"callbacks_timeout", has_callbacks ? seconds(Callbacks::kPatience) : 0.0},
                         {"enable_additional_files", true},
                         {"max_queue_size", most_queued}};
  for (const AmountRule& rule : kAmounts) {
    const auto number = [&rule](double value) {
      return rule.is_whole ? ordered_json(static_cast<int64_t>(value)) : ordered_json(value);
    };
    config[std::string(rule.name)] = number(rule.usual);
    config["max_" + std::string(rule.name)] = number(rule.most);
  }
  for (const char* name : {"enable_per_process_and_thread_time_limit",
                           "enable_per_process_and_thread_memory_limit", "enable_network"}) {
    config[name] = config["allow_" + std::string(name)] = false;
  }
  config["redirect_stderr_to_stdout"] = false;
  config["max_extract_size"] = kMostExtracted.count / 1024;
  config["enable_batched_submissions"] = true;
  config["max_submission_batch_size"] = kMostInBatch;
  config["submission_cache_duration"] = 0.0;
  config["use_docs_as_homepage"] = false;
  config["disable_implicit_base64_encoding"] = true;
  return {.body = line_of(config)};
}

}  // namespace service::judge0
