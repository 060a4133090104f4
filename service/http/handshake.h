#pragma once
// The opening handshake of a WebSocket (RFC 6455, 4.2), the server's side: may this request become
// one, and in which words. Pure; the request comes from strangers.

#include <string_view>
#include <variant>

#include "service/http/request.h"

namespace service {

// The headers of the 101, or why not. `protocol` is named in the answer if the client offers it.
std::variant<Headers, Response> shake_hands(const Request& request, std::string_view protocol = "");

}  // namespace service
