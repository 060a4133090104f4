#pragma once
// --ca-file, --cert-file, --key-file: TLS of what a command dials by https://.

#include <memory>
#include <string_view>

#include "cluster/link/tls.h"
#include "sandbox/sys/result.h"

namespace cli {

// Reads the files; none where no URL is https://, and then no file may be named. `url`: the option
// that has the URLs, for people.
sys::Result<std::shared_ptr<const cluster::TlsContext>> open_tls(const cluster::TlsFiles& files,
                                                                 bool has_https,
                                                                 std::string_view url);

}  // namespace cli
