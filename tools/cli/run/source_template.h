#pragma once
// Finds the template of a program that the command line names: by its file's extension, else by its
// first line ("#!/usr/bin/env ruby"), else the default, Python's.

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tools/cli/engine_setup.h"

namespace cli {

// The name of a template; empty: the default. Refused: an ending, or an interpreter, that no
// template has. `path` "-" has no ending.
std::variant<std::string, Refusal> template_of_source(
    const std::string& path, std::string_view source,
    const std::vector<runtime::TemplateSpec>& known);

}  // namespace cli
