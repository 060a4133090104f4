// What a hostile router says of its packed environments.

#include "cluster/environments/offered.h"
#include "images/sha256.h"
#include "sandbox/sys/result.h"
#include "tests/fuzz/input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto read = cluster::parse_environments(fuzz::Input(data, size).rest());
  if (!read) return 0;
  // A digest becomes a path.
  for (const cluster::EnvironmentName& each : *read)
    VERIFY(images::is_sha256(each.digest) && !each.name.empty() && each.name.size() <= 64);
  return 0;
}
