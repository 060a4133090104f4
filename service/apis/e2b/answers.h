#pragma once
// What E2B's clients are told of sandboxes, contexts and snapshots. Pure.

#include <string>
#include <vector>

#include "runtime/job/limits.h"
#include "service/apis/e2b/store.h"
#include "service/http/request.h"

namespace service::e2b {

// To whoever made it or connects to it: with its secret.
nlohmann::ordered_json access_to(const Sandbox& sandbox);
// All that is to be known of it but that.
nlohmann::ordered_json about(const Sandbox& sandbox, const runtime::Limits& limits);
nlohmann::ordered_json about(const Context& context);
nlohmann::ordered_json about(const Snapshot& snapshot);

// One page of a list, the last that began first, as the request asks for it: metadata, state,
// template, startedAfter, order, limit, nextToken.
Response list_response(std::vector<const Sandbox*> all, const Request& request,
                       const runtime::Limits& limits);

}  // namespace service::e2b
