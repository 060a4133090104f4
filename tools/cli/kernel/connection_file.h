#pragma once
// The file by which a Jupyter client tells a kernel where to listen, and the key that signs their
// messages. Pure.

#include <array>
#include <string>
#include <string_view>

#include "sandbox/sys/result.h"
#include "service/jupyter/channels.h"

namespace cli {

using service::jupyter::Channel;
using service::jupyter::kChannels;

struct ConnectionFile {
  std::array<std::string, kChannels> endpoints;  // as ZeroMQ writes them
  std::string key;
};

// A file without a key is refused: whoever reaches the sockets could run code.
sys::Result<ConnectionFile> parse_connection_file(std::string_view text);

}  // namespace cli
