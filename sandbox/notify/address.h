#pragma once
// Socket addresses in words. Daemon side; the bytes come from a job.

#include <string>
#include <string_view>

namespace sandbox {

// "127.0.0.1:80", "[::1]:80", "unix:/run/x", "unix:@abstract", "family 16". Not escaped.
std::string address_text(std::string_view sockaddr_bytes);

}  // namespace sandbox
