#pragma once
// What a pilot does before it begins: gets a packed environment from its router, once for each
// host. Blocks.

#include <cstdint>
#include <functional>
#include <string>

#include "cluster/link/fetch.h"

namespace cluster {

struct ObtainOrder {
  JoinUrl router;
  std::string token;                // empty: none
  const TlsContext* tls = nullptr;  // of an https router
  std::string name;                 // or digest
  std::string store;                // of images: files are kept below it, by digest
  int stop = -1;                    // it ends early when this is readable; -1: nothing ends it
  // How far it is; called now and then.
  std::function<void(uint64_t bytes, uint64_t of)> progress = [](uint64_t, uint64_t) {};
};

// The path of the file. Of several pilots on one host that want it at once, one gets it and the
// others wait; nothing half-written stays under that path, and its contents have the digest.
sys::Result<std::string> obtain_environment_file(const ObtainOrder& order);

}  // namespace cluster
