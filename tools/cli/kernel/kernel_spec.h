#pragma once
// What Jupyter reads about a kernel: kernel.json, and the folder that it is in. Pure.

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/options.h"

namespace cli {

// Where Jupyter looks: the user's own folder, or PREFIX/share/jupyter. Empty: there is no home.
std::string kernel_folder(const KernelOptions& options,
                          const std::function<const char*(const char*)>& environment);

// The options for `zygo kernel run` among the arguments of `zygo kernel install`. Jupyter starts it
// in a folder of its own choice, so files are named from the root on. `folder`: where `install`
// runs. `is_file`: a path from there is a file's, and no name of a program.
std::vector<std::string> options_to_run(
    const std::vector<std::string>& arguments, const std::filesystem::path& folder,
    const std::function<bool(const std::filesystem::path&)>& is_file);

std::string kernel_json(const std::string& program, const std::vector<std::string>& options,
                        const std::string& display_name);

}  // namespace cli
