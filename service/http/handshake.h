#pragma once
// The opening handshake of a WebSocket (RFC 6455, 4.2), the server's side: decides whether a
// request becomes one, and by which subprotocol. Pure; the request is untrusted.

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "service/http/request.h"

namespace service {

// The headers of the 101, or why not. `protocol` is named in the answer if the client offers it.
std::variant<Headers, Response> shake_hands(const Request& request, std::string_view protocol = "");

// The Sec-WebSocket-Accept that belongs to a Sec-WebSocket-Key: it shows that a server understood.
std::string accept_of(std::string_view key);

// The token that a page in a browser offers as a subprotocol, because it can set no header of a
// handshake: "zygo.token." and the token in base64url, without padding. Empty when that is not
// base64url; nothing when no such subprotocol is offered.
std::optional<std::string> offered_token(const Request& request);

}  // namespace service
