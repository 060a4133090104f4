#pragma once
// The process of a router that reads its configuration again. The router is confined when it meets
// strangers, and can open no file then; this one is its child from before, speaks with nobody else,
// and ends with it.

#include <utility>

#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"
#include "service/reloadable_config.h"
#include "tools/cli/options.h"

namespace cli {

class ConfigReader {
 public:
  // Forks: before there are other threads, and sockets that would stay open in the child.
  static sys::Result<ConfigReader> start(const CommandLine& line);

  // The configuration as it is now. On any thread, one at a time.
  sys::Result<service::ReloadableConfig> read() const;

 private:
  explicit ConfigReader(sys::OwnedFd channel) : channel_(std::move(channel)) {}
  sys::OwnedFd channel_;
};

}  // namespace cli
