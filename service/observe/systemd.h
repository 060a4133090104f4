#pragma once
// Notifies a supervisor such as systemd: "READY=1", "STOPPING=1" (sd_notify(3)). Does nothing where
// none listens.

#include <string_view>

namespace service {

void notify_supervisor(std::string_view state);

}  // namespace service
