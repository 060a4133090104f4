#include "service/apis/e2b/envd.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/json/job/job_parts.h"
#include "runtime/values/json_text.h"
#include "service/apis/multipart.h"
#include "service/apis/parsed.h"
#include "service/apis/results.h"

namespace service::e2b {

using nlohmann::json;
using nlohmann::ordered_json;
using runtime::Family;

namespace {

constexpr size_t kMostUploads = 1000;
constexpr size_t kLongestCall = size_t{64} << 10;    // about files: a few paths
constexpr size_t kLongestCommand = size_t{2} << 20;  // more than Linux takes for a program
constexpr unsigned kMostBehind = 64;                 // lines that are looked at
constexpr int kDeepestWords = 6;                     // of JSON: a list of entries has 4
constexpr int kDeepestList = 1000;
constexpr int kNoSpace = 507;  // which the SDKs have an error for

RpcError bad_argument(std::string_view field, std::string_view why) {
  return {"invalid_argument", fmt::format("{}: {}", field, why)};
}

bool is_path(std::string_view text) { return !text.empty() && text.find('\0') == text.npos; }

std::optional<std::string> path_in(const json& message, const char* field) {
  const auto found = message.find(field);
  if (found == message.end() || !found->is_string()) return std::nullopt;
  const auto& path = found->get_ref<const std::string&>();
  if (!is_path(path)) return std::nullopt;
  return path;
}

bool has_nul(const json& text) {
  return text.get_ref<const std::string&>().find('\0') != std::string::npos;
}

// Of a text without a NUL.
bool is_text(const json& value) { return value.is_string() && !has_nul(value); }

bool is_texts(const json& value) { return value.is_array() && std::ranges::all_of(value, is_text); }

bool is_variables(const json& value) {
  if (!value.is_object()) return false;
  for (const auto& [name, text] : value.items()) {
    if (!runtime::is_name_of_variable(name) || !is_text(text)) return false;
  }
  return true;
}

// As in ProtoJSON, null is absence.
json field_of(const json& message, const char* field, json usual) {
  const auto found = message.find(field);
  if (found == message.end() || found->is_null()) return usual;
  return *found;
}

// The order of a call with one path.
std::variant<Order, RpcError> with_path(const char* what, const json& message, bool changes) {
  const auto path = path_in(message, "path");
  if (!path) return bad_argument("path", "expected a path");
  return Order{{{"do", what}, {"path", *path}}, changes};
}

std::string in_quotes(std::string_view text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

// Why a step that was to obey an order has not come to its end.
RpcError failure_of(const runtime::Verdict& verdict) {
  const std::string why = why_of(verdict) + "; the sandbox is as it was before";
  switch (family_of(verdict.outcome)) {
    case Family::kTime:
      return {"deadline_exceeded", why};
    case Family::kMemory:
    case Family::kOutput:
    case Family::kOtherLimit:
      return {"resource_exhausted", why};
    case Family::kPolicy:
      return {"permission_denied", why};
    case Family::kCancelled:
      return {"canceled", why};
    case Family::kOk:
    case Family::kWrongAnswer:
    case Family::kFailed:
    case Family::kNoProgram:
    case Family::kTrouble:
      break;
  }
  return {"internal", why};
}

std::string data_event(std::string_view stream, std::string_view bytes) {
  if (bytes.empty()) return "";
  std::string base64;
  runtime::append_base64(bytes, base64);
  return envelope(ordered_json({{"event", {{"data", {{std::string(stream), base64}}}}}}).dump());
}

std::string end_event(int code) {
  ordered_json end = {
      {"exitCode", code}, {"exited", true}, {"status", fmt::format("exit status {}", code)}};
  if (code != 0) end["error"] = end["status"];
  return envelope(ordered_json({{"event", {{"end", std::move(end)}}}}).dump());
}

// As the original has it.
std::string killed_event() {
  constexpr std::string_view kKilled = "signal: killed";
  const ordered_json end = {
      {"exitCode", -1}, {"exited", false}, {"status", kKilled}, {"error", kKilled}};
  return envelope(ordered_json({{"event", {{"end", end}}}}).dump());
}

// A line that tells what became of an order, which begins behind the end of another.
struct LastWords {
  std::string_view before, behind;
  json told;
};

// The last there is: programs that a command has left may write behind it.
std::optional<LastWords> last_words(std::string_view output) {
  size_t end = output.rfind('\n');
  for (unsigned lines = 0; lines < kMostBehind && end != output.npos && end > 0; ++lines) {
    const size_t before = output.rfind('\n', end - 1);
    if (before == output.npos) return std::nullopt;
    json told = parsed(output.substr(before + 1, end - before - 1), kDeepestWords);
    const bool is_told =
        told.is_object() && (told.contains("ok") ? told["ok"].is_object() : told.contains("code"));
    if (is_told)
      return LastWords{output.substr(0, before), output.substr(end + 1), std::move(told)};
    end = before;
  }
  return std::nullopt;
}

// The step has changed something that cannot be kept.
std::string note_of_loss(const runtime::JobResult& result) {
  if (!result.step || result.step->kept) return "";
  return fmt::format("zygo: what this command did to the sandbox is not kept: {}\n",
                     result.step->why_not);
}

}  // namespace

std::variant<Order, RpcError> read_file_call(std::string_view method, std::string_view text) {
  if (text.size() > kLongestCall) return bad_argument("message", "it is too long");
  const json message = parsed(text);
  if (!message.is_object()) return RpcError{"invalid_argument", "the message is no JSON object"};
  if (method == "Stat") return with_path("stat_", message, false);
  if (method == "MakeDir") return with_path("make_dir", message, true);
  if (method == "Remove") return with_path("remove", message, true);
  if (method == "ListDir") {
    auto order = with_path("list_", message, false);
    const json depth = field_of(message, "depth", 1);
    if (!depth.is_number_integer() || depth < 0 || depth > kDeepestList)
      return bad_argument("depth", fmt::format("expected a number of at most {}", kDeepestList));
    if (auto* listing = std::get_if<Order>(&order))
      listing->what["depth"] = std::max<int64_t>(depth.get<int64_t>(), 1);
    return order;
  }
  if (method == "Move") {
    const auto source = path_in(message, "source"), destination = path_in(message, "destination");
    if (!source || !destination) return bad_argument("source, destination", "expected paths");
    return Order{{{"do", "move"}, {"source", *source}, {"destination", *destination}}, true};
  }
  return RpcError{"unimplemented",
                  fmt::format("filesystem.Filesystem/{} is not offered here", method)};
}

std::variant<Order, RpcError> read_command(std::string_view text) {
  if (text.size() > kLongestCommand)
    return bad_argument("message", fmt::format("at most {} bytes", kLongestCommand));
  const json message = parsed(text, 6);
  if (!message.is_object()) return RpcError{"invalid_argument", "the message is no JSON object"};
  if (!field_of(message, "pty", nullptr).is_null())
    return RpcError{"unimplemented", "process.Process/Start: terminals (pty) are not offered here"};
  if (field_of(message, "stdin", false) == true)
    return RpcError{"unimplemented", "process.Process/Start: input (stdin) is not offered here"};
  const json process = field_of(message, "process", nullptr);
  if (!process.is_object()) return bad_argument("process", "expected an object");
  const json program = field_of(process, "cmd", ""), directory = field_of(process, "cwd", "");
  const json arguments = field_of(process, "args", json::array());
  const json variables = field_of(process, "envs", json::object());
  if (!is_text(program) || program == "") return bad_argument("process.cmd", "expected a program");
  if (!is_text(directory)) return bad_argument("process.cwd", "expected a path");
  if (!is_texts(arguments)) return bad_argument("process.args", "expected a list of texts");
  if (!is_variables(variables))
    return bad_argument("process.envs", "expected texts by names of variables");
  return Order{{{"do", "run"},
                {"program", program},
                {"arguments", arguments},
                {"variables", variables},
                {"directory", directory}},
               true};
}

std::variant<std::vector<Upload>, Response> read_upload(const Request& request) {
  const std::string* path = request.query_value("path");
  const std::string* type = request.header("content-type");
  std::vector<Upload> uploads;
  if (type && type->starts_with("application/octet-stream")) {
    if (path && !path->empty()) uploads.push_back({*path, request.body});
  } else if (type) {
    auto files = files_of_form(*type, request.body, "file", kMostUploads + 1);
    if (files && files->size() > kMostUploads)
      return files_refusal({"invalid_argument", fmt::format("at most {} files", kMostUploads)});
    for (FormFile& file : files ? *files : std::vector<FormFile>()) {
      const bool is_named = path && !path->empty();
      uploads.push_back({is_named ? *path : std::move(file.name), file.content});
    }
  }
  if (uploads.empty())
    return files_refusal(
        {"invalid_argument", "expected a form of files, or one file and its path"});
  if (!std::ranges::all_of(uploads, [](const Upload& each) { return is_path(each.path); }))
    return files_refusal({"invalid_argument", "a file has no path"});
  return uploads;
}

Order order_of_upload(const std::vector<Upload>& uploads) {
  json paths = json::array();
  for (const Upload& each : uploads) paths.push_back(each.path);
  return {{{"do", "write"}, {"files", std::move(paths)}, {"at", kUploads}}, true};
}

std::variant<Order, Response> read_download(const Request& request) {
  const std::string* path = request.query_value("path");
  if (!path || !is_path(*path)) return files_refusal(bad_argument("path", "expected a path"));
  return Order{{{"do", "read"}, {"path", *path}, {"most", kMostRead}}, false};
}

std::string source_of(const Order& order) {
  const std::string text = order.what.dump(-1, ' ', false, json::error_handler_t::replace);
  return fmt::format("__import__('builtins').exec({}, {{'order': {}}})\n", in_quotes(envd_source()),
                     in_quotes(text));
}

std::string note_of(const Order& order) {
  return line_of({{"source", "# E2B: " + order.what.value("do", std::string())}});
}

std::variant<Obeyed, RpcError> read_obeyed(const runtime::JobResult& result) {
  if (result.exception)
    return RpcError{"internal", result.exception->type + ": " + result.exception->message};
  if (!ended_well(result.verdict)) return failure_of(result.verdict);
  const auto last = last_words(result.out.bytes);
  if (!last) return RpcError{"internal", "the sandbox does not say what became of the request"};
  const json& told = last->told;
  if (const auto ok = told.find("ok"); ok != told.end())
    return Obeyed{last->before, last->behind, *ok};
  constexpr std::string_view kCodes[] = {"invalid_argument", "not_found", "already_exists",
                                         "permission_denied", "resource_exhausted"};
  const json code = told.value("code", json("")), message = told.value("message", json(""));
  const auto known =
      std::ranges::find_if(kCodes, [&](std::string_view each) { return code == each; });
  return RpcError{known == std::end(kCodes) ? "internal" : *known,
                  message.is_string() ? message.get<std::string>() : ""};
}

std::optional<RpcError> loss_of(const runtime::JobResult& result) {
  if (!result.step || result.step->kept) return std::nullopt;
  return RpcError{"resource_exhausted",
                  fmt::format("what was done is not kept: {}; the sandbox is as it was before",
                              result.step->why_not),
                  kNoSpace};
}

Response file_call_response(const runtime::JobResult& result) {
  auto read = read_obeyed(result);
  if (const auto* error = std::get_if<RpcError>(&read)) return rpc_error_response(*error);
  return {.body = line_of(std::get<Obeyed>(read).told)};
}

Response upload_response(const runtime::JobResult& result) {
  auto read = read_obeyed(result);
  if (const auto* error = std::get_if<RpcError>(&read)) return files_refusal(*error);
  return {.body = line_of(std::get<Obeyed>(read).told.value("files", json::array()))};
}

Response download_response(const runtime::JobResult& result) {
  auto read = read_obeyed(result);
  if (const auto* error = std::get_if<RpcError>(&read)) return files_refusal(*error);
  return {.body = std::string(std::get<Obeyed>(read).content), .type = "application/octet-stream"};
}

std::string start_event(uint64_t pid) {
  return envelope(ordered_json({{"event", {{"start", {{"pid", pid}}}}}}).dump());
}

std::string command_events(const runtime::JobResult& result) {
  const auto read = read_obeyed(result);
  if (const auto* error = std::get_if<RpcError>(&read)) {
    const bool is_killed = family_of(result.verdict.outcome) == Family::kCancelled;
    return data_event("stdout", result.out.bytes) + data_event("stderr", result.err.bytes) +
           (is_killed ? killed_event() + end_of_stream(std::nullopt) : end_of_stream(*error));
  }
  const auto& [content, behind, told] = std::get<Obeyed>(read);
  const json code = told.value("exit", json(0));
  return data_event("stdout", content) + data_event("stdout", behind) +
         data_event("stderr", result.err.bytes + note_of_loss(result)) +
         end_event(code.is_number_integer() ? code.get<int>() : 0) + end_of_stream(std::nullopt);
}

Response files_refusal(const RpcError& error) {
  Response response = rpc_error_response(error);
  if (error.code == "resource_exhausted") response.status = kNoSpace;
  if (error.status > 0) response.status = error.status;
  response.body = line_of({{"code", response.status}, {"message", error.message}});
  return response;
}

}  // namespace service::e2b
