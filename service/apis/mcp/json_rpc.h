#pragma once
// JSON-RPC 2.0 as the Model Context Protocol uses it: messages out of text, and answers. Pure; the
// text is untrusted.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace service::mcp {

using Json = nlohmann::json;

inline constexpr int kParseError = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kMethodNotFound = -32601;
inline constexpr int kInvalidParams = -32602;

struct Message {
  enum class Kind : uint8_t { kRequest, kNotification, kResponse, kInvalid };
  Kind kind = Kind::kInvalid;
  Json id;  // a string or an integer; null: none, or unreadable
  std::string method;
  Json params = Json::object();
  std::string why;  // of one that is invalid
};

struct Incoming {
  static constexpr size_t kMostInBatch = 64;
  std::vector<Message> messages;  // of a batch perhaps several
  bool is_batch = false;
  int error = 0;  // 0: the text was read; else nothing of it counts
  std::string why;
};
Incoming read_messages(std::string_view text);

Json answer_of(const Json& id, Json result);
Json error_of(const Json& id, int code, std::string_view message);
Json notification_of(std::string_view method, Json params);

// On one line; text that is not UTF-8 is replaced.
std::string line_of(const Json& message);

}  // namespace service::mcp
