#include "tools/cli/serve/reload.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstring>

#include "sandbox/sys/file.h"
#include "tools/cli/command_line/command_line.h"

namespace cli {

using sys::Error;

namespace {

constexpr size_t kTokensFile = size_t{1} << 20;
// A cell is a few pipes and sockets of ours; the rest is what libraries and logs hold.
constexpr rlim_t kDescriptorsPerWorker = 32, kDescriptorsOfOurs = 128;

}  // namespace

std::optional<Refusal> read_tokens(const std::string& path, service::Tokens& into) {
  if (path.empty()) return std::nullopt;
  sys::Result<std::string> text = sys::read_file(path, kTokensFile);
  if (!text) {
    const Error& error = text.error();
    return Refusal{fmt::format("{}: {}", path,
                               error.code() != 0 ? std::strerror(error.code()) : error.text())};
  }
  sys::Result<service::Tokens> tokens = service::Tokens::parse(*text);
  if (!tokens) return Refusal{fmt::format("{}: {}", path, tokens.error().text())};
  into = std::move(tokens).value();
  return std::nullopt;
}

service::ConnectionLimits connection_limits(const ServeOptions& from) {
  service::ConnectionLimits limits;
  limits.parser.body = from.max_body.count;
  limits.head = from.head_time;
  limits.body = from.body_time;
  limits.write = from.write_time;
  limits.idle = from.idle_time;
  return limits;
}

// Descriptors that connections take must not be missing where jobs are run.
std::optional<Refusal> make_room(size_t connections, unsigned workers) {
  const rlim_t wanted = connections + kDescriptorsPerWorker * workers + kDescriptorsOfOurs;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= wanted) return std::nullopt;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  if (limit.rlim_cur == wanted && ::setrlimit(RLIMIT_NOFILE, &limit) == 0) return std::nullopt;
  return Refusal{fmt::format("{} connections and {} workers need {} descriptors, and this process "
                             "may have {}: raise ulimit -n, or lower --connections",
                             connections, workers, wanted, limit.rlim_max),
                 kExitSandbox};
}

sys::Result<service::ReloadableConfig> reread(const CommandLine& started_with, unsigned workers) {
  std::string trouble;
  const auto wish = parse_command_line(started_with.arguments, &trouble);
  const CommandLine* line = std::get_if<CommandLine>(&wish);
  if (!line) return Error::because(trouble);
  const ServeOptions& from = line->serve;
  // Whoever may listen where, and whose files are whose, was settled by this.
  if (from.tokens.empty() != started_with.serve.tokens.empty())
    return Error::because("--tokens: whether there are any can only change at a start");
  service::ReloadableConfig to;
  if (auto refusal = read_tokens(from.tokens, to.tokens)) return Error::because(refusal->sentence);
  if (from.cors.anyone() && from.tokens.empty())
    return Error::because("--cors *: any page that somebody here opens could run programs");
  if (auto refusal = make_room(from.connections, workers)) return Error::because(refusal->sentence);
  to.cors = from.cors;
  to.hosts = from.hosts;
  to.log = from.log;
  to.queue = from.queue;
  to.connections = from.connections;
  to.limits = connection_limits(from);
  return to;
}

}  // namespace cli
