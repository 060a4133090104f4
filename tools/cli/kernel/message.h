#pragma once
// Messages of the Jupyter protocol (5.3) and the frames that they are on the wire. Pure.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/result.h"

namespace cli {

using Frames = std::vector<std::string>;

struct Message {
  std::vector<std::string> identities;  // of the client, or the topic
  nlohmann::json header = nlohmann::json::object();
  nlohmann::json parent = nlohmann::json::object();  // the header of the request
  nlohmann::json content = nlohmann::json::object();

  std::string type() const;
};

// HMAC-SHA256 in hexadecimal.
std::string signature_of(std::string_view key, const std::vector<std::string_view>& parts);

// An error: it is not signed with the key, or is no message.
sys::Result<Message> read_message(const Frames& frames, std::string_view key);
Frames write_message(const Message& message, std::string_view key);

// Members of a content that may have anything; `otherwise` where it is not there.
std::string text_of(const nlohmann::json& content, const char* name);
bool flag_of(const nlohmann::json& content, const char* name, bool otherwise);
int64_t number_of(const nlohmann::json& content, const char* name, int64_t otherwise);

}  // namespace cli
