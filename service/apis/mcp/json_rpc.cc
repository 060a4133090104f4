#include "service/apis/mcp/json_rpc.h"

#include <utility>

#include "service/apis/parsed.h"

namespace service::mcp {

namespace {

// Deeper than any valid request; what is deeper is left out.
constexpr int kDeepest = 16;

bool is_id(const Json& id) { return id.is_string() || id.is_number_integer(); }

Message invalid(Json id, std::string why) {
  Message message;
  message.id = std::move(id);
  message.why = std::move(why);
  return message;
}

Message read_message(Json& json) {
  if (!json.is_object()) return invalid({}, "a message is an object");
  const auto given = json.find("id");
  const bool has_id = given != json.end();
  Json id = has_id && is_id(*given) ? *given : Json();
  const auto version = json.find("jsonrpc");
  if (version == json.end() || *version != "2.0")
    return invalid(std::move(id), "jsonrpc: expected \"2.0\"");
  if (has_id && id.is_null()) return invalid({}, "id: expected a string or a whole number");
  Message message;
  message.id = std::move(id);
  const auto method = json.find("method");
  if (method == json.end()) {
    if (!has_id || json.contains("result") == json.contains("error"))
      return invalid(std::move(message.id), "method: required");
    message.kind = Message::Kind::kResponse;
    return message;
  }
  if (!method->is_string()) return invalid(std::move(message.id), "method: expected a string");
  message.method = method->get<std::string>();
  if (const auto params = json.find("params"); params != json.end()) {
    if (!params->is_object()) return invalid(std::move(message.id), "params: expected an object");
    message.params = std::move(*params);
  }
  message.kind = has_id ? Message::Kind::kRequest : Message::Kind::kNotification;
  return message;
}

}  // namespace

Incoming read_messages(std::string_view text) {
  Incoming incoming;
  const auto refuse = [&incoming](int code, std::string why) {
    incoming.error = code;
    incoming.why = std::move(why);
    return incoming;
  };
  Json json = parsed(text, kDeepest);
  if (json.is_discarded()) return refuse(kParseError, "this is not JSON");
  if (!json.is_array()) {
    incoming.messages.push_back(read_message(json));
    return incoming;
  }
  incoming.is_batch = true;
  if (json.empty()) return refuse(kInvalidRequest, "a batch without messages");
  if (json.size() > Incoming::kMostInBatch)
    return refuse(kInvalidRequest,
                  "a batch has at most " + std::to_string(Incoming::kMostInBatch) + " messages");
  for (Json& each : json) incoming.messages.push_back(read_message(each));
  return incoming;
}

Json answer_of(const Json& id, Json result) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

Json error_of(const Json& id, int code, std::string_view message) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", message}}}};
}

Json notification_of(std::string_view method, Json params) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

std::string line_of(const Json& message) {
  return message.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace service::mcp
