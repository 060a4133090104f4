#include "tools/cli/run/live_output.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "runtime/values/utf8.h"
#include "tools/cli/text.h"

namespace cli {

bool LiveOutput::write(std::string_view out, std::string_view err) {
  return write(out_, out, false) && write(err_, err, false);
}

bool LiveOutput::write_rest(const runtime::JobResult& result) {
  const auto rest = [](const std::string& all, const Stream& stream) {
    return std::string_view(all).substr(std::min(stream.taken, all.size()));
  };
  return write(out_, rest(result.out.bytes, out_), true) &&
         write(err_, rest(result.err.bytes, err_), true);
}

bool LiveOutput::write(Stream& to, std::string_view bytes, bool is_last) {
  to.taken += bytes.size();
  std::string now = std::exchange(to.held_back, {}) + std::string(bytes);
  if (!is_last && is_terminal(to.fd)) {
    const size_t whole = runtime::whole_characters(now);
    to.held_back = now.substr(whole);
    now.resize(whole);
  }
  if (now.empty()) return true;
  if (to.fd == STDERR_FILENO || is_terminal(to.fd)) ends_open_ = now.back() != '\n';
  return write_output(to.fd, now);
}

}  // namespace cli
