#pragma once
// `zygo health`: asks a service whether it lives, or is ready. For a container's health check, so
// that an image needs no other HTTP client.

#include "tools/cli/options.h"

namespace cli {

int health_command(const CommandLine& line);

}  // namespace cli
