#pragma once
// An HTTP request and an answer, as plain values, and the one small grammar that is ours: the
// target. Pure. Their contents are untrusted.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace service {

enum class Method : uint8_t { kGet, kHead, kPost, kPut, kDelete, kOptions, kOther };
std::string_view name_of(Method method);

using Headers = std::vector<std::pair<std::string, std::string>>;  // of a request: lower-case names

struct Request {
  Method method = Method::kOther;
  std::string path;                                        // percent-decoded, begins with "/"
  std::vector<std::pair<std::string, std::string>> query;  // percent-decoded
  Headers headers;
  std::string body;
  bool keep_alive = false;  // as far as the client is concerned
  bool http_1_0 = false;    // knows no chunks

  const std::string* header(std::string_view name) const;
  const std::string* query_value(std::string_view name) const;
};

struct Response {
  int status = 200;
  std::string body = {};
  std::string type = "application/json";
  Headers headers = {};  // in addition to what the connection writes itself
  bool close = false;
  std::shared_ptr<void> held = nullptr;  // counts the body, and goes when that is sent
};

// {"error": {"code", "message", "path"}}; the path is left out when there is none.
Response error_response(int status, std::string_view code, std::string_view message,
                        std::string_view path = {});
// The same, with Retry-After.
Response busy_response(int status, std::string_view code, std::string_view message,
                       unsigned seconds);

std::string_view reason_of(int status);

// "/a%20b?x=1&y" taken apart. False for an invalid path: not beginning with "/", a broken percent
// sign, a NUL, or not UTF-8.
bool read_target(std::string_view target, Request& into);

// A number of seconds, "0.5" or "30"; nothing for anything else, and for more than `most`.
std::optional<double> read_seconds(std::string_view text, double most);
inline constexpr double kLongestWait = 300;  // seconds that a client may wait for a result

// The text without the blanks at both ends (OWS of RFC 9110, 5.6.3).
std::string_view trimmed(std::string_view text);

}  // namespace service
