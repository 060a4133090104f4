#pragma once
// --config FILE: a JSON object whose keys are long options without the dashes and whose values are
// those of the options: {"memory": "256M", "wall": 2, "quiet": true, "preload": ["numpy"]}. The
// command line wins over the file. Options of other commands are skipped, so that one file can
// serve all; a key that is an option of no command is an error.

#include <string>

namespace CLI {
class App;
}

namespace cli {

// After `app` has parsed the command line. Throws CLI::Error, to be reported like any usage error.
void apply_config_file(const std::string& path, CLI::App& app);

}  // namespace cli
