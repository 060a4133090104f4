#include "service/apis/go_judge/messages.h"

#include <nlohmann/json.hpp>

#include "runtime/values/json_text.h"
#include "service/apis/go_judge/fields.h"
#include "service/apis/parsed.h"

namespace service::go_judge {

using nlohmann::json;

namespace {

std::string text_in(const json& object, const char* name) {
  const json* value = find(object, name);
  return value && value->is_string() ? value->get<std::string>() : "";
}

std::string begin_answer(std::string_view id) {
  std::string text = "{\"requestId\":";
  runtime::append_json_string(id, text);
  return text + ",\"results\":";
}

// Answers of /run end with a line feed.
std::string_view without_end(std::string_view body) {
  while (body.ends_with('\n')) body.remove_suffix(1);
  return body;
}

}  // namespace

std::optional<SocketMessage> read_socket_message(std::string_view text) {
  const json body = parsed(text, kDeepest);
  if (!body.is_object()) return std::nullopt;
  return SocketMessage{text_in(body, "requestId"), text_in(body, "cancelRequestId")};
}

std::string socket_answer(std::string_view id, const Response& answer) {
  std::string text = begin_answer(id);
  const std::string_view body = without_end(answer.body);
  if (answer.status == 200) return text.append(body) + "}";
  return text.append("null,\"error\":").append(body) + "}";
}

std::string socket_error(std::string_view id, std::string_view why) {
  std::string text = begin_answer(id) + "null,\"error\":";
  runtime::append_json_string(why, text);
  return text + "}";
}

}  // namespace service::go_judge
