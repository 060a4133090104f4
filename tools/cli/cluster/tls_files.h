#pragma once
// The files of --ca-file, --cert-file and --key-file.

#include <memory>
#include <string_view>
#include <variant>

#include "cluster/link/tls.h"
#include "tools/cli/refusal.h"

namespace cli {

// Null: nobody speaks TLS. `is_wanted`: one of the addresses that the option `by` names is https.
std::variant<std::shared_ptr<const cluster::TlsContext>, Refusal> open_tls(
    const cluster::TlsFiles& files, bool is_wanted, std::string_view by);

}  // namespace cli
