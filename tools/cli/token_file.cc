#include "tools/cli/token_file.h"

#include "sandbox/sys/file.h"

namespace cli {

sys::Result<std::string> read_token_file(const std::string& path) {
  constexpr size_t kLongest = 4096;
  if (path.empty()) return std::string();
  std::string text = TRY(sys::read_file(path, kLongest));
  const size_t end = text.find_last_not_of(" \t\r\n");
  text.resize(end == std::string::npos ? 0 : end + 1);
  if (text.empty() || text.find_first_of(" \t\r\n") != std::string::npos)
    return sys::Error::because(path + ": expected one token and nothing else");
  return text;
}

}  // namespace cli
