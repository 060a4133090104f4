#pragma once
// What Jupyter reads about a kernel: kernel.json, and the folder that it is in. Pure.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/options.h"

namespace cli {

// Where Jupyter looks: the user's own folder, or PREFIX/share/jupyter. Empty: there is no home.
std::string kernel_folder(const KernelOptions& options,
                          const std::function<const char*(const char*)>& environment);

// The options for `zygo kernel run` among the arguments of `zygo kernel install`.
std::vector<std::string> options_to_run(const std::vector<std::string>& arguments);

std::string kernel_json(const std::string& program, const std::vector<std::string>& options,
                        const std::string& display_name);

}  // namespace cli
