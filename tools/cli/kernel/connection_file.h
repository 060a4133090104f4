#pragma once
// The file by which a Jupyter client tells a kernel where to listen, and the key that signs their
// messages. Pure.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "sandbox/sys/result.h"

namespace cli {

enum class Channel : uint8_t { kShell, kIopub, kStdin, kControl, kHeartbeat };
inline constexpr size_t kChannels = 5;

struct ConnectionFile {
  std::array<std::string, kChannels> endpoints;  // as ZeroMQ writes them
  std::string key;
};

// A file without a key is refused: whoever reaches the sockets could run code.
sys::Result<ConnectionFile> parse_connection_file(std::string_view text);

}  // namespace cli
