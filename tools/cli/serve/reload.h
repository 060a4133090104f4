#pragma once
// Reads what `zygo serve` reads again on SIGHUP: the command line it was started with, over the
// environment, and the files that they name.

#include <optional>
#include <string>
#include <string_view>

#include "service/reloadable_config.h"
#include "tools/cli/engine_setup.h"
#include "tools/cli/options.h"

namespace cli {

// Reads the tokens of one file; both at the start and later.
std::optional<Refusal> read_tokens(const std::string& path, service::Tokens& into);
service::ConnectionLimits connection_limits(const ServeOptions& from);
// Raises this process's own limit of descriptors if need be. `more`: connections beside those that
// clients make.
std::optional<Refusal> make_room(const ServeOptions& from, unsigned workers, size_t more = 0);

// The configuration as it is now, for the process that answers requests, which cannot read files.
// An error says what is wrong with it. Any thread.
sys::Result<std::string> reread(const CommandLine& started_with, unsigned workers);
sys::Result<service::ReloadableConfig> config_in(std::string_view bytes);

}  // namespace cli
