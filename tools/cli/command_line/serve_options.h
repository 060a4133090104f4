#pragma once
// The options of `zygo serve`.

#include <string>

#include "tools/cli/options.h"

namespace CLI {
class App;
}

namespace cli {

inline constexpr const char* kPrintGroup = "Print what starts pilots, and end";

void add_serve(CLI::App& app, CommandLine& into);
void add_route(CLI::App& app, CommandLine& into);
void add_pilot(CLI::App& app, CommandLine& into);
std::string finish_pilot(const CLI::App& app, CommandLine& line);
void add_slots(CLI::App& app, PilotOptions& into);  // the size and the time of pilots

}  // namespace cli
