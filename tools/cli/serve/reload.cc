#include "tools/cli/serve/reload.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstring>

#include "cluster/callbacks/callback_sender.h"
#include "runtime/remote/wire.h"
#include "sandbox/sys/file.h"
#include "tools/cli/command_line/command_line.h"

namespace cli {

using sys::Error;

namespace {

constexpr size_t kTokensFile = size_t{1} << 20;
// A cell is a few pipes and sockets of ours; the rest is what libraries and logs hold.
constexpr rlim_t kDescriptorsPerWorker = 32, kDescriptorsOfOurs = 128;

}  // namespace

namespace {

std::optional<Refusal> read_tokens(const std::string& path, std::string& text,
                                   service::Tokens& into) {
  if (path.empty()) return std::nullopt;
  sys::Result<std::string> found = sys::read_file(path, kTokensFile);
  if (!found) {
    const Error& error = found.error();
    return Refusal{fmt::format("{}: {}", path,
                               error.code() != 0 ? std::strerror(error.code()) : error.text())};
  }
  sys::Result<service::Tokens> tokens = service::Tokens::parse(*found);
  if (!tokens) return Refusal{fmt::format("{}: {}", path, tokens.error().text())};
  into = std::move(tokens).value();
  text = std::move(found).value();
  return std::nullopt;
}

}  // namespace

std::optional<Refusal> read_tokens(const std::string& path, service::Tokens& into) {
  std::string text;
  return read_tokens(path, text, into);
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
std::optional<Refusal> make_room(const ServeOptions& from, unsigned workers, size_t more) {
  const size_t connections =
      from.connections + from.callbacks.size() * cluster::CallbackSender::kAtOnce + more;
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

namespace {

// The parts that a configuration is made of, as text.
struct ConfigParts {
  std::string tokens;
  std::vector<std::string> origins, hosts;
  uint8_t log = 0;
  uint64_t queue = 0, connections = 0, body = 0;
  sys::Milliseconds head{}, body_time{}, write{}, idle{};
};

template <typename Archive>
void fields(Archive& a, ConfigParts& c) {
  a(c.tokens, c.origins, c.hosts, c.log, c.queue, c.connections, c.body, c.head, c.body_time,
    c.write, c.idle);
}

}  // namespace

sys::Result<std::string> reread(const CommandLine& started_with, unsigned workers) {
  std::string trouble;
  const auto wish = parse_command_line(started_with.arguments, &trouble);
  const CommandLine* line = std::get_if<CommandLine>(&wish);
  if (!line) return Error::because(trouble);
  const ServeOptions& from = line->serve;
  // The presence of tokens settled who may listen where, and whose files are whose.
  if (from.tokens.empty() != started_with.serve.tokens.empty())
    return Error::because("--tokens: whether there are any can only change at a start");
  ConfigParts parts;
  service::Tokens tokens;
  if (auto refusal = read_tokens(from.tokens, parts.tokens, tokens))
    return Error::because(refusal->sentence);
  if (from.cors.anyone() && from.tokens.empty())
    return Error::because("--cors *: any page that somebody here opens could run programs");
  if (auto refusal = make_room(from, workers)) return Error::because(refusal->sentence);
  parts.origins = from.cors.origins();
  if (from.cors.anyone()) parts.origins.emplace_back("*");
  parts.hosts = from.hosts.names();
  parts.log = static_cast<uint8_t>(from.log);
  parts.queue = from.queue;
  parts.connections = from.connections;
  const service::ConnectionLimits limits = connection_limits(from);
  parts.body = limits.parser.body;
  parts.head = limits.head;
  parts.body_time = limits.body;
  parts.write = limits.write;
  parts.idle = limits.idle;
  runtime::WireWriter out;
  out(parts);
  return out.take();
}

sys::Result<service::ReloadableConfig> config_in(std::string_view bytes) {
  ConfigParts parts;
  runtime::WireReader in(bytes);
  in(parts);
  if (!in.at_end()) return Error::because("no configuration");
  service::ReloadableConfig config;
  if (!parts.tokens.empty()) config.tokens = TRY(service::Tokens::parse(parts.tokens));
  for (const std::string& origin : parts.origins) TRY(config.cors.add(origin));
  for (const std::string& name : parts.hosts) TRY(config.hosts.add(name));
  config.log = static_cast<service::LogFormat>(parts.log);
  config.queue = parts.queue;
  config.connections = parts.connections;
  config.limits.parser.body = parts.body;
  config.limits.head = parts.head;
  config.limits.body = parts.body_time;
  config.limits.write = parts.write;
  config.limits.idle = parts.idle;
  return config;
}

}  // namespace cli
