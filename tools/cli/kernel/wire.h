#pragma once
// Messages of the Jupyter protocol as the frames that they are over ZeroMQ. Pure.

#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/result.h"
#include "service/jupyter/message.h"

namespace cli {

using Frames = std::vector<std::string>;

// HMAC-SHA256 in hexadecimal.
std::string signature_of(std::string_view key, const std::vector<std::string_view>& parts);

// An error: it is not signed with the key, or is no message.
sys::Result<service::jupyter::Message> read_message(const Frames& frames, std::string_view key);
Frames write_message(const service::jupyter::Message& message, std::string_view key);

}  // namespace cli
