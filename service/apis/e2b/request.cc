#include "service/apis/e2b/request.h"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <cmath>

#include "runtime/json/job/job_parts.h"
#include "service/apis/notebook.h"
#include "service/apis/parsed.h"
#include "service/apis/results.h"

namespace service::e2b {

using nlohmann::json;

namespace {

constexpr size_t kMostMetadata = size_t{8} << 10;  // bytes of a sandbox's metadata
constexpr size_t kMostPairs = 128;                 // of it, and of its variables
constexpr size_t kLongestName = 200;
constexpr size_t kLongestLanguage = 64;
constexpr size_t kLongestPath = 4096;
constexpr size_t kLongestRequest = size_t{256} << 10;  // about sandboxes and contexts
constexpr const char* kNoVariables = "expected texts by names of variables";

using Pairs = std::vector<std::pair<std::string, std::string>>;

Response bad(std::string_view field, std::string_view why) {
  return refusal(400, fmt::format("{}: {}", field, why));
}

bool is_absent(const json& object, const char* field) {
  const auto found = object.find(field);
  return found == object.end() || found->is_null();
}

// The text of a field; null and absence are the empty one. False: it is something else, or longer.
bool take_text(const json& object, const char* field, std::string& into,
               size_t most = std::string::npos) {
  if (is_absent(object, field)) return true;
  const json& value = object.at(field);
  if (!value.is_string() || value.get_ref<const std::string&>().size() > most) return false;
  into = value.get<std::string>();
  return true;
}

bool is_object_of_texts(const json& value) {
  return value.is_object() &&
         std::ranges::all_of(value, [](const json& each) { return each.is_string(); });
}

// As far as a program can have it.
bool is_variable(const std::string& name, const json& value) {
  return runtime::is_name_of_variable(name) && value.is_string() &&
         value.get_ref<const std::string&>().find('\0') == std::string::npos;
}

// False: it is no object of variables.
bool take_variables(const json& object, const char* field, Pairs& into) {
  if (is_absent(object, field)) return true;
  const json& value = object.at(field);
  if (!value.is_object()) return false;
  for (const auto& [name, text] : value.items()) {
    if (!is_variable(name, text)) return false;
    into.emplace_back(name, text.get<std::string>());
  }
  return true;
}

// A body that may be absent.
json read_object(std::string_view body) {
  if (body.size() > kLongestRequest) return nullptr;
  return trimmed(body).empty() ? json::object() : parsed(body);
}

Response no_object() {
  return refusal(400,
                 fmt::format("the body is not a JSON object of at most {} bytes", kLongestRequest));
}

Response no_name(std::string_view field) {
  return bad(field, fmt::format("expected a text of at most {} bytes", kLongestName));
}

bool is_short(const json& pairs) {
  return pairs.size() <= kMostPairs && line_of(pairs).size() <= kMostMetadata;
}

std::string too_long() {
  return fmt::format("at most {} texts and {} bytes", kMostPairs, kMostMetadata);
}

// As new_id() makes them. Hosts have other names that begin so, such as 10-0-0-1.default.pod.
bool is_id(std::string_view text) {
  constexpr size_t kLength = 21;
  return text.size() == kLength && text.front() == 'i' &&
         text.find_first_not_of("0123456789abcdef", 1) == text.npos;
}

bool is_false(const json& object, const char* field) {
  const auto found = object.find(field);
  return found != object.end() && *found == false;
}

Response keeps_memory(std::string_view field) {
  return refusal(501, fmt::format("{}: a sandbox always keeps its memory here", field));
}

std::variant<std::optional<sys::Milliseconds>, Response> life_in(const json& object) {
  if (is_absent(object, "timeout")) return std::nullopt;
  const json& value = object.at("timeout");
  const double seconds = value.is_number() ? value.get<double>() : -1;
  if (!std::isfinite(seconds) || seconds < 0) return bad("timeout", "expected a number of seconds");
  constexpr double kMost = static_cast<double>(kLongestLife.count()) / 1000;
  if (seconds > kMost) return bad("timeout", fmt::format("at most {} seconds", kMost));
  return sys::Milliseconds(static_cast<int64_t>(std::ceil(seconds * 1000)));
}

// Wishes that cannot be met here, so that nobody takes them for granted.
std::optional<Response> refuse_wishes(const json& object) {
  constexpr std::pair<const char*, const char*> kWishes[] = {
      {"network", "sandboxes have no network, and no rules for one"},
      {"mcp", "there is no gateway for MCP in a sandbox"},
      {"iam", "sandboxes get no tokens"},
      {"volumeMounts", "there are no volumes"},
  };
  for (const auto& [field, why] : kWishes) {
    const bool is_wished = !is_absent(object, field) && !object.at(field).empty();
    if (is_wished) return refusal(501, fmt::format("{}: {}", field, why));
  }
  if (is_false(object, "autoPauseMemory")) return keeps_memory("autoPauseMemory");
  const auto resumes = object.find("autoResume");
  const bool is_resumed = resumes != object.end() && resumes->is_object() &&
                          resumes->value("enabled", json(false)) == true;
  if (is_resumed)
    return refusal(501, "autoResume: a paused sandbox goes on when its client connects");
  return std::nullopt;
}

}  // namespace

Response refusal(int status, std::string_view message) {
  return {.status = status, .body = line_of({{"code", status}, {"message", message}})};
}

Response with_retry(Response response, unsigned seconds) {
  if (seconds > 0) response.headers.emplace_back("Retry-After", std::to_string(seconds));
  return response;
}

std::variant<Creation, Response> read_create(std::string_view body) {
  const json request = read_object(body);
  if (!request.is_object()) return no_object();
  Creation made;
  if (!take_text(request, "templateID", made.template_id, kLongestName))
    return no_name("templateID");
  auto life = life_in(request);
  if (auto* refused = std::get_if<Response>(&life)) return std::move(*refused);
  made.life = std::get<std::optional<sys::Milliseconds>>(life).value_or(kUsualLife);
  if (!take_variables(request, "envVars", made.env)) return bad("envVars", kNoVariables);
  if (!is_short(texts_of(made.env))) return bad("envVars", too_long());
  if (!is_absent(request, "metadata")) {
    made.metadata = request.at("metadata");
    if (!is_object_of_texts(made.metadata)) return bad("metadata", "expected texts by name");
    if (!is_short(made.metadata)) return bad("metadata", too_long());
  }
  if (!is_absent(request, "autoPause")) {
    if (!request.at("autoPause").is_boolean()) return bad("autoPause", "expected true or false");
    made.pauses = request.at("autoPause").get<bool>();
  }
  if (auto refused = refuse_wishes(request)) return std::move(*refused);
  return made;
}

std::variant<std::optional<sys::Milliseconds>, Response> read_life(std::string_view body) {
  const json request = read_object(body);
  if (!request.is_object()) return no_object();
  if (is_false(request, "memory")) return keeps_memory("memory");
  return life_in(request);
}

std::optional<Response> refuse_pause(std::string_view body) {
  const json request = read_object(body);
  if (!request.is_object()) return no_object();
  if (is_false(request, "memory")) return keeps_memory("memory");
  return std::nullopt;
}

std::variant<Forking, Response> read_fork(std::string_view body) {
  const json request = read_object(body);
  if (!request.is_object()) return no_object();
  Forking made;
  auto life = life_in(request);
  if (auto* refused = std::get_if<Response>(&life)) return std::move(*refused);
  made.life = std::get<std::optional<sys::Milliseconds>>(life);
  if (is_absent(request, "count")) return made;
  const json& count = request.at("count");
  if (!count.is_number_integer() || count < 1 || count > kMostForks)
    return bad("count", fmt::format("expected 1 to {}", kMostForks));
  made.count = count.get<unsigned>();
  return made;
}

std::variant<std::string, Response> read_snapshot(std::string_view body) {
  const json request = read_object(body);
  if (!request.is_object()) return no_object();
  std::string name;
  if (!take_text(request, "name", name, kLongestName)) return no_name("name");
  return name;
}

std::variant<Execution, Response> read_execute(std::string_view body) {
  const json request = parsed(body);
  if (!request.is_object()) return no_object();
  Execution made;
  if (is_absent(request, "code") || !take_text(request, "code", made.code))
    return bad("code", "expected a text");
  if (!take_text(request, "context_id", made.context, kLongestName)) return no_name("context_id");
  if (!take_text(request, "language", made.language, kLongestLanguage))
    return bad("language", "expected the name of a language");
  if (!take_variables(request, "env_vars", made.env)) return bad("env_vars", kNoVariables);
  made.code = unindented(made.code);
  return made;
}

json texts_of(const std::vector<std::pair<std::string, std::string>>& pairs) {
  json made = json::object();
  for (const auto& [name, value] : pairs) made[name] = value;
  return made;
}

std::variant<NewContext, Response> read_context(std::string_view body) {
  const json request = read_object(body);
  if (!request.is_object()) return no_object();
  NewContext made;
  if (!take_text(request, "language", made.language, kLongestLanguage))
    return bad("language", "expected the name of a language");
  if (!take_text(request, "cwd", made.cwd, kLongestPath) || made.cwd.find('\0') != made.cwd.npos)
    return bad("cwd", fmt::format("expected a path of at most {} bytes", kLongestPath));
  return made;
}

bool is_offered(std::string_view language) {
  return language.empty() || language == "python" || language == "python3";
}

std::string why_not_offered(std::string_view language) {
  return fmt::format("language \"{}\" is not offered here; sandboxes run python", language);
}

std::string sandbox_named(const Request& request) {
  if (const std::string* id = request.header("e2b-sandbox-id")) return *id;
  const std::string* host = request.header("host");
  if (!host) return "";
  const size_t dash = host->find('-'), dot = host->find('.');
  const bool is_port = dash != host->npos && dash > 0 &&
                       std::all_of(host->begin(), host->begin() + static_cast<ptrdiff_t>(dash),
                                   [](char c) { return c >= '0' && c <= '9'; });
  if (!is_port || dot == host->npos || dot < dash) return "";
  std::string id = host->substr(dash + 1, dot - dash - 1);
  return is_id(id) ? id : "";
}

bool brings_secret(const Request& request, std::string_view secret) {
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"x-access-token", "e2b-traffic-access-token"},
      [&](std::string_view name) {
        const std::string* given = request.header(name);
        return given && given->size() == secret.size() &&
               CRYPTO_memcmp(given->data(), secret.data(), secret.size()) == 0;
      });
}

}  // namespace service::e2b
