#pragma once
// Commands that document the command line: `zygo completion` and `zygo manual`. Their text is made
// while the command line is parsed, since the grammar exists only then; it is written later, like
// all output of a command.

#include <optional>
#include <string>

#include "tools/cli/options.h"

namespace CLI {
class App;
}

namespace cli {

class Documents {
 public:
  // Adds the commands; after all others.
  explicit Documents(CLI::App& app);
  Documents(const Documents&) = delete;
  Documents& operator=(const Documents&) = delete;

  // After the command line was parsed: what is to be written, if one of them was asked for. Throws
  // CLI::Error where there is no such page.
  std::optional<DocumentOptions> asked() const;

 private:
  CLI::App& app_;
  CLI::App* completion_;
  CLI::App* manual_;
  std::string shell_, page_, folder_;
};

int document_command(const CommandLine& line);

}  // namespace cli
