// Paths of the sandbox, and what --dir says about them.

#include <algorithm>

#include "tools/cli/isolate/options.h"

namespace cli {

std::optional<std::string> plain_path(const std::string& path) {
  std::string plain;
  for (size_t at = 0; at <= path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    const std::string part = path.substr(at, end - at);
    at = end + 1;
    if (part == ".." || part.find('\0') != part.npos) return std::nullopt;
    if (!part.empty() && part != ".") plain += "/" + part;
  }
  return plain.empty() ? "/" : plain;
}

std::variant<DirectoryRule, std::string> parse_directory_rule(const std::string& text) {
  const size_t colon = text.find(':');
  std::string words = colon == text.npos ? "" : text.substr(colon + 1);
  const std::string paths = text.substr(0, colon);
  const size_t equals = paths.find('=');
  DirectoryRule rule;
  const auto inside = plain_path("/" + paths.substr(0, equals));
  if (!inside || *inside == "/") return "not a directory inside of the sandbox";
  rule.inside = *inside;
  rule.outside = equals == paths.npos ? rule.inside : paths.substr(equals + 1);
  const bool taken_back = rule.outside.empty();
  for (size_t at = 0; colon != text.npos && at <= words.size();) {
    const size_t end = std::min(words.find(':', at), words.size());
    const std::string word = words.substr(at, end - at);
    at = end + 1;
    if (word == "rw") {
      rule.writable = true;
    } else if (word == "maybe") {
      rule.optional = true;
    } else if (word == "noexec") {
      rule.no_exec = true;
    } else if (word == "tmp") {
      rule.file_system = "tmp";
    } else if (word == "fs") {
      rule.file_system = rule.outside;
    } else if (word == "dev" && rule.inside == "/dev") {
      // The devices that programs need are there.
    } else if (word == "dev" || word == "norec") {
      return word + " is not to be had here";
    } else {
      return "unknown option \"" + word + "\"";
    }
  }
  if (taken_back && colon != text.npos) return "options of a rule that is taken back";
  return rule;
}

}  // namespace cli
