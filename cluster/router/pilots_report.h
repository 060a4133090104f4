#pragma once
// The answer of GET /v1/pilots as JSON, and its schema.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/router/fleet.h"
#include "cluster/router/lost_pilots.h"

namespace cluster {

inline constexpr std::string_view kPilots = "Pilots";  // the schema of the whole answer

std::string pilots_json(const Fleet& fleet, const LostPilots& lost, const std::string& router,
                        sys::Milliseconds lease);

// By name: the whole answer, and what it refers to.
std::vector<std::pair<std::string, std::string>> schemas_of_pilots();

}  // namespace cluster
