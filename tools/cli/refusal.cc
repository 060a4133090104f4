#include "tools/cli/refusal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "sandbox/sys/file.h"

namespace cli {
namespace {

bool in_json = false;  // set by the command line, once it is read

std::string object_of(std::string_view command, const std::string& sentence) {
  const nlohmann::ordered_json object = {{"error", {{"command", command}, {"message", sentence}}}};
  // ASCII, so that nothing in it moves the cursor of a terminal.
  return object.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

void refuse_in_json(bool wanted) { in_json = wanted; }

int say(const std::string& text) {
  static_cast<void>(sys::write_all(STDOUT_FILENO, text + "\n").ok());
  return kExitOk;
}

int refuse(std::string_view command, const Refusal& refusal, std::string_view hint) {
  if (in_json) {
    write_error_line(object_of(command, refusal.sentence));
    return refusal.code;
  }
  std::string line = command.empty() ? "zygo: " : fmt::format("zygo {}: ", command);
  line += escape_controls(refusal.sentence, refusal.lines);
  if (!hint.empty()) line += fmt::format("\n{}", hint);
  write_error_line(line);
  return refusal.code;
}

}  // namespace cli
