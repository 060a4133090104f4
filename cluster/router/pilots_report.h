#pragma once
// What operators are told of pilots: the answer of GET /v1/pilots, its schema, and metrics.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/router/fleet.h"
#include "cluster/router/lost_pilots.h"

namespace cluster {

inline constexpr std::string_view kPilots = "Pilots";  // the schema of the whole answer

std::string pilots_json(const Fleet& fleet, const LostPilots& lost, const std::string& router,
                        sys::Milliseconds lease, sys::Milliseconds wait);

// In the text of Prometheus.
std::string pilots_metrics(const Fleet& fleet, const LostPilots& lost);

// By name: the whole answer, and what it refers to.
std::vector<std::pair<std::string, std::string>> schemas_of_pilots();

}  // namespace cluster
