#pragma once
// `zygo template list`: name, preloads, interpreter.

#include "tools/cli/engine_setup.h"
#include "tools/cli/options.h"

namespace cli {

int template_list_command(const CommandLine& line, const Parts& parts);

std::string template_table(const std::vector<runtime::TemplateSpec>& known,
                           const std::string& python);
std::string template_json(const std::vector<runtime::TemplateSpec>& known,
                          const std::string& python);

}  // namespace cli
