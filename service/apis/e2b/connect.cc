#include "service/apis/e2b/connect.h"

#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "service/apis/results.h"

namespace service::e2b {

using nlohmann::ordered_json;

namespace {

constexpr size_t kHead = 5;  // flags, and the length in four bytes, the highest first
constexpr unsigned char kEndStream = 2;
constexpr std::string_view kStream = "application/connect+json";

std::string with_head(unsigned char flags, std::string_view data) {
  const auto size = static_cast<uint32_t>(data.size());
  std::string made(1, static_cast<char>(flags));
  for (int shift = 24; shift >= 0; shift -= 8)
    made += static_cast<char>(static_cast<unsigned char>(size >> shift));
  return made.append(data);
}

ordered_json error_json(const RpcError& error) {
  return {{"code", error.code}, {"message", error.message}};
}

// As the protocol has them.
int status_of(std::string_view code) {
  constexpr std::pair<std::string_view, int> kStatuses[] = {
      {"invalid_argument", 400},   {"unauthenticated", 401}, {"permission_denied", 403},
      {"not_found", 404},          {"already_exists", 409},  {"aborted", 409},
      {"resource_exhausted", 429}, {"unimplemented", 501},   {"unavailable", 503},
      {"deadline_exceeded", 504},
  };
  for (const auto& [name, status] : kStatuses) {
    if (name == code) return status;
  }
  return 500;
}

}  // namespace

std::optional<std::string_view> message_of(std::string_view body) {
  if (body.size() < kHead || body.front() != 0) return std::nullopt;
  uint32_t size = 0;
  for (size_t i = 1; i < kHead; ++i) size = (size << 8) | static_cast<unsigned char>(body[i]);
  if (body.size() - kHead != size) return std::nullopt;
  return body.substr(kHead);
}

std::string envelope(std::string_view message) { return with_head(0, message); }

std::string end_of_stream(const std::optional<RpcError>& error) {
  ordered_json end = ordered_json::object();
  if (error) end["error"] = error_json(*error);
  return with_head(kEndStream, end.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
}

Response rpc_error_response(const RpcError& error) {
  return {.status = status_of(error.code), .body = line_of(error_json(error))};
}

Response stream_head() { return {.type = std::string(kStream)}; }

Response stream_error_response(const RpcError& error) {
  Response response = stream_head();
  response.body = end_of_stream(error);
  return response;
}

std::optional<sys::Milliseconds> call_timeout(const Request& request) {
  const std::string* given = request.header("connect-timeout-ms");
  if (!given) return std::nullopt;
  int64_t milliseconds = 0;
  const char* const end = given->data() + given->size();
  const auto read = std::from_chars(given->data(), end, milliseconds);
  constexpr int64_t kMost = 9'999'999'999;  // ten digits, as the protocol says
  if (read.ec != std::errc() || read.ptr != end || milliseconds < 0 || milliseconds > kMost)
    return std::nullopt;
  return sys::Milliseconds(milliseconds);
}

}  // namespace service::e2b
