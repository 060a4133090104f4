#pragma once
// The program that runs the cells of notebooks, one after another in one process, as the source of
// a job in call mode, and what it says of them. There is no kernel and no IPython. Pure.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "runtime/job/result.h"

namespace service {

// Made at build time from notebook.py. Its function run_cell runs a cell; run_script one that is
// alone, and tells whether it ended with a value.
std::string_view notebook_source();

// The cell as IPython reads it (leading_empty_lines and leading_indent of its
// inputtransformer2.py): without empty lines in front, and without the blanks that the first line
// begins with.
std::string unindented(std::string_view cell);

// What each call returned; empty: the job ended before it could say so.
nlohmann::json cells_of(const runtime::JobResult& result);

}  // namespace service
