#pragma once
// The protection that is lost without a layer or an ability. Pure.

#include <string_view>

namespace sandbox {

// One clause of at most 50 characters; empty for a name that is in no report.
std::string_view lost_without(std::string_view name);

}  // namespace sandbox
