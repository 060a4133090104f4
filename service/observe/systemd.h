#pragma once
// What a supervisor such as systemd is told: "READY=1", "STOPPING=1" (sd_notify(3)). Does nothing
// where nobody listens.

#include <string_view>

namespace service {

void notify_supervisor(std::string_view state);

}  // namespace service
