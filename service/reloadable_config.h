#pragma once
// ReloadableConfig: the part of a service's configuration that can be replaced while it runs. All
// the rest is fixed at the start.

#include <cstddef>

#include "service/admission/cors.h"
#include "service/admission/hosts.h"
#include "service/admission/tokens.h"
#include "service/http/connection.h"
#include "service/observe/access_log.h"

namespace service {

struct ReloadableConfig {
  Tokens tokens;
  Cors cors;
  Hosts hosts;
  LogFormat log = LogFormat::kOff;
  size_t queue = 1000;        // jobs that wait; those that are there already stay
  size_t connections = 256;   // the same
  ConnectionLimits limits{};  // of its times; also of the connections that are there
};

}  // namespace service
