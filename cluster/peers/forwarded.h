#pragma once
// A request on its way from the router that got it to the one that has what it asks for, and the
// answer on its way back. Pure.

#include <string>
#include <string_view>

#include "cluster/link/join_url.h"
#include "service/http/request.h"

namespace cluster {

// The name of the router that has passed a request on; it is not passed on again.
inline constexpr std::string_view kForwardedBy = "x-zygo-forwarded-by";
// The name of the router whose answer it is.
inline constexpr std::string_view kAnsweredBy = "X-Zygo-Router";

// The request line and the headers, with the empty line behind them: those that came, token
// included, but for what belongs to the connection. The body follows as it came.
std::string forwarded_head(const service::Request& request, const JoinUrl& to,
                           std::string_view from);

// The headers of an answer that are passed on: not those of the connection, and none that the
// router that passes it on writes itself.
service::Headers passed_on(const service::Headers& of_answer);

}  // namespace cluster
