#pragma once
// Lines of somebody who types, or of a file or pipe, until there are no more or a signal asks for
// the end.

#include <optional>
#include <string>

#include "tools/cli/signals.h"
#include "tools/cli/text.h"

namespace cli {

class Console {
 public:
  explicit Console(const StopSignals* stop) : stop_(stop) {}
  bool is_terminal() const { return is_terminal_; }
  // Without its newline. On a terminal `prompt` comes first. None: it is over.
  std::optional<std::string> line(const std::string& prompt);

 private:
  const StopSignals* stop_;
  bool is_terminal_ = ::cli::is_terminal(0);
  std::string read_;  // and not yet given out
  bool is_over_ = false;
};

}  // namespace cli
