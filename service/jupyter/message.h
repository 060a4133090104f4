#pragma once
// Messages of the Jupyter protocol (5.3), however they travel. Pure.

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace service::jupyter {

inline constexpr const char* kProtocol = "5.3";

struct Message {
  std::vector<std::string> identities;  // of the client, or the topic
  nlohmann::json header = nlohmann::json::object();
  nlohmann::json parent = nlohmann::json::object();  // the header of the request
  nlohmann::json content = nlohmann::json::object();
  std::shared_ptr<void> held = nullptr;  // counts its bytes, for its client

  std::string type() const;
};

// Members of a content that may have anything; `otherwise` where it is not there.
std::string text_of(const nlohmann::json& content, const char* name);
bool flag_of(const nlohmann::json& content, const char* name, bool otherwise);
int64_t number_of(const nlohmann::json& content, const char* name, int64_t otherwise);

}  // namespace service::jupyter
