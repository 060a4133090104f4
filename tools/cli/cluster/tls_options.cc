#include "tools/cli/cluster/tls_options.h"

#include <fmt/format.h>

#include <utility>

namespace cli {

using sys::Error;

sys::Result<std::shared_ptr<const cluster::TlsContext>> open_tls(const cluster::TlsFiles& files,
                                                                 bool has_https,
                                                                 std::string_view url) {
  const bool is_named = !files.ca.empty() || !files.cert.empty() || !files.key.empty();
  if (!has_https && is_named) {
    return Error::because(
        fmt::format("--ca-file, --cert-file, --key-file: no {} is https://", url));
  }
  if (files.cert.empty() != files.key.empty())
    return Error::because("--cert-file and --key-file belong together");
  std::shared_ptr<const cluster::TlsContext> made;
  if (has_https) made = TRY(cluster::TlsContext::open(files));
  return made;
}

}  // namespace cli
