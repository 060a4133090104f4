#pragma once
// What the headers of a request of this protocol say. Pure; they are untrusted.

#include <optional>
#include <string_view>

#include "service/http/request.h"

namespace service::mcp {

inline constexpr size_t kMostBody = size_t{4} << 20;

// The answer to a request that is none of this protocol.
std::optional<Response> refusal_of(const Request& request);
// That to one of a version that the server does not speak. An initialize is offered one that it
// does.
std::optional<Response> refusal_of_version(const Request& request);
// Does its client take an answer in events?
bool takes_events(const Request& request);
// The answer in JSON; `status` as HTTP has it.
Response rpc_error(int status, int code, std::string_view why);

}  // namespace service::mcp
