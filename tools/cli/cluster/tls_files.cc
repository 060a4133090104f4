#include "tools/cli/cluster/tls_files.h"

#include <fmt/format.h>

#include <utility>

namespace cli {

using cluster::TlsContext;

std::variant<std::shared_ptr<const TlsContext>, Refusal> open_tls(const cluster::TlsFiles& files,
                                                                  bool is_wanted,
                                                                  std::string_view by) {
  const bool is_named = !files.ca.empty() || !files.cert.empty() || !files.key.empty();
  if (!is_wanted && is_named)
    return Refusal{fmt::format("--ca-file, --cert-file, --key-file: no {} is https://", by)};
  if (files.cert.empty() != files.key.empty())
    return Refusal{"--cert-file and --key-file belong together"};
  if (!is_wanted) return std::shared_ptr<const TlsContext>();
  auto context = TlsContext::open(files);
  if (!context) return Refusal{context.error().text()};
  return std::shared_ptr<const TlsContext>(std::move(context).value());
}

}  // namespace cli
