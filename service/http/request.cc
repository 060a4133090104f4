#include "service/http/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "runtime/values/json_text.h"
#include "runtime/values/utf8.h"

namespace service {

namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

enum class Plus : uint8_t { kIsSpace, kIsPlus };

std::optional<std::string> percent_decoded(std::string_view text, Plus plus) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '+' && plus == Plus::kIsSpace) c = ' ';
    if (c == '%') {
      if (text.size() - i < 3) return std::nullopt;
      const int high = hex_digit(text[i + 1]), low = hex_digit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      c = static_cast<char>(high * 16 + low);
      i += 2;
    }
    if (c == '\0') return std::nullopt;
    decoded += c;
  }
  if (!runtime::is_utf8(decoded)) return std::nullopt;
  return decoded;
}

const std::string* find(const Headers& pairs, std::string_view name) {
  auto found =
      std::find_if(pairs.begin(), pairs.end(), [name](const auto& p) { return p.first == name; });
  return found == pairs.end() ? nullptr : &found->second;
}

struct Reason {
  int status;
  std::string_view words;
};
constexpr std::array kReasons{
    Reason{100, "Continue"},
    Reason{101, "Switching Protocols"},
    Reason{200, "OK"},
    Reason{201, "Created"},
    Reason{202, "Accepted"},
    Reason{204, "No Content"},
    Reason{304, "Not Modified"},
    Reason{400, "Bad Request"},
    Reason{401, "Unauthorized"},
    Reason{403, "Forbidden"},
    Reason{404, "Not Found"},
    Reason{405, "Method Not Allowed"},
    Reason{408, "Request Timeout"},
    Reason{409, "Conflict"},
    Reason{410, "Gone"},
    Reason{413, "Content Too Large"},
    Reason{414, "URI Too Long"},
    Reason{415, "Unsupported Media Type"},
    Reason{417, "Expectation Failed"},
    Reason{421, "Misdirected Request"},
    Reason{422, "Unprocessable Content"},
    Reason{426, "Upgrade Required"},
    Reason{429, "Too Many Requests"},
    Reason{431, "Request Header Fields Too Large"},
    Reason{500, "Internal Server Error"},
    Reason{501, "Not Implemented"},
    Reason{502, "Bad Gateway"},
    Reason{503, "Service Unavailable"},
    Reason{505, "HTTP Version Not Supported"},
    Reason{507, "Insufficient Storage"},
};

}  // namespace

std::string_view name_of(Method method) {
  switch (method) {
    case Method::kGet:
      return "GET";
    case Method::kHead:
      return "HEAD";
    case Method::kPost:
      return "POST";
    case Method::kPut:
      return "PUT";
    case Method::kDelete:
      return "DELETE";
    case Method::kOptions:
      return "OPTIONS";
    case Method::kOther:
      break;
  }
  return "OTHER";
}

const std::string* Request::header(std::string_view name) const { return find(headers, name); }
const std::string* Request::query_value(std::string_view name) const { return find(query, name); }

Response error_response(int status, std::string_view code, std::string_view message,
                        std::string_view path) {
  Response response;
  response.status = status;
  response.body = "{\"error\":{\"code\":";
  runtime::append_json_string(code, response.body);
  response.body += ",\"message\":";
  runtime::append_json_string(message, response.body);
  if (!path.empty()) {
    response.body += ",\"path\":";
    runtime::append_json_string(path, response.body);
  }
  response.body += "}}\n";
  return response;
}

Response busy_response(int status, std::string_view code, std::string_view message,
                       unsigned seconds) {
  Response response = error_response(status, code, message);
  response.headers.emplace_back("Retry-After", fmt::format("{}", seconds));
  return response;
}

std::string_view reason_of(int status) {
  auto found = std::find_if(kReasons.begin(), kReasons.end(),
                            [status](const Reason& reason) { return reason.status == status; });
  return found == kReasons.end() ? "Unknown" : found->words;
}

bool read_target(std::string_view target, Request& into) {
  target = target.substr(0, target.find('#'));
  const size_t question = std::min(target.find('?'), target.size());
  std::optional<std::string> path = percent_decoded(target.substr(0, question), Plus::kIsPlus);
  if (!path || !path->starts_with('/')) return false;
  into.path = *std::move(path);
  into.query.clear();
  std::string_view left = target.substr(std::min(question + 1, target.size()));
  while (!left.empty()) {
    const size_t end = std::min(left.find('&'), left.size());
    const std::string_view pair = left.substr(0, end);
    left.remove_prefix(std::min(end + 1, left.size()));
    if (pair.empty()) continue;
    const size_t equals = std::min(pair.find('='), pair.size());
    auto name = percent_decoded(pair.substr(0, equals), Plus::kIsSpace);
    auto value = percent_decoded(pair.substr(std::min(equals + 1, pair.size())), Plus::kIsSpace);
    if (!name || !value) return false;
    into.query.emplace_back(*std::move(name), *std::move(value));
  }
  return true;
}

std::string_view trimmed(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(" \t") + 1);
}

std::optional<double> read_seconds(std::string_view text, double most) {
  double seconds = 0;
  const char* end = text.data() + text.size();
  auto [at, error] = std::from_chars(text.data(), end, seconds, std::chars_format::fixed);
  if (error != std::errc{} || at != end || !(seconds >= 0) || seconds > most) return std::nullopt;
  return seconds;
}

}  // namespace service
