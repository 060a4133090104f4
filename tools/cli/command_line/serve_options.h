#pragma once
// The options of `zygo serve`.

#include "tools/cli/options.h"

namespace CLI {
class App;
}

namespace cli {

void add_serve(CLI::App& app, CommandLine& into);
void add_route(CLI::App& app, CommandLine& into);
void add_pilot(CLI::App& app, CommandLine& into);
void add_slots(CLI::App& app, PilotOptions& into);  // the size and the time of pilots

}  // namespace cli
