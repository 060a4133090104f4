#pragma once
// TenantTemplates: how many templates are kept warm for tenants, and which one leaves when there is
// no room for one more. The choice is pure; called by the shards.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/sys/units.h"

namespace runtime {

struct TenantTemplate {
  std::string tenant;
  sys::Nanoseconds used{};  // last
  bool busy = false;        // stays in any case
};

// The one that was used longest ago among those of the tenants that hold the most, `newcomer`
// counted with the one that it wants: so a tenant of many programs gives up its own before those of
// tenants that have few. Nothing: all are busy.
std::optional<size_t> next_to_leave(const std::vector<TenantTemplate>& held,
                                    const std::string& newcomer);

// A quarter of the memory that we may use, by what a template of Python with numpy takes.
size_t affordable_templates();

}  // namespace runtime
