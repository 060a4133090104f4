#pragma once
// The directories that a process which answers requests may use once it is confined: for what is
// opened by name later. Databases, blobs, files that jobs name, our resources.

#include <string>
#include <vector>

#include "sandbox/front.h"
#include "sandbox/sys/fd.h"
#include "tools/cli/options.h"

namespace cli {

class Places {
 public:
  // `blobs`: root of the store; empty: there is none.
  Places(const ServeOptions& options, const std::string& blobs);
  sandbox::FrontPlan plan(bool tells_users_apart) const;

 private:
  void add(const std::string& path, std::vector<int>& into);

  std::vector<sys::OwnedFd> open_;
  std::vector<int> readable_, writable_;
};

}  // namespace cli
