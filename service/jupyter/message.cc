#include "service/jupyter/message.h"

namespace service::jupyter {

using nlohmann::json;

std::string Message::type() const { return text_of(header, "msg_type"); }

std::string text_of(const json& content, const char* name) {
  const auto found = content.find(name);
  return found != content.end() && found->is_string() ? found->get<std::string>() : "";
}

bool flag_of(const json& content, const char* name, bool otherwise) {
  const auto found = content.find(name);
  return found != content.end() && found->is_boolean() ? found->get<bool>() : otherwise;
}

int64_t number_of(const json& content, const char* name, int64_t otherwise) {
  const auto found = content.find(name);
  return found != content.end() && found->is_number_integer() ? found->get<int64_t>() : otherwise;
}

}  // namespace service::jupyter
