// The body of a hostile client that says it is gzip: what is made of it must not depend on the
// slices in which that is done, and is bounded. The first byte says how long the slices are. Also
// the other way: whatever we deflate is what it was when it is inflated.

#include <string>

#include "sandbox/sys/result.h"
#include "service/http/gzip.h"
#include "tests/fuzz/input.h"

namespace {

using service::Allowance;
using service::Inflater;

constexpr size_t kMost = 4096, kRoom = size_t{1} << 20;

struct Read {
  Inflater::State state = Inflater::State::kMore;
  std::string bytes;
  bool operator==(const Read&) const = default;
};

Read inflate(std::string_view from, size_t slice) {
  const Allowance allowance(kRoom);
  Read read;
  {
    Inflater inflater(from, kMost, Allowance::Share(allowance, "client"));
    size_t steps = 0;
    while (read.state == Inflater::State::kMore) {
      read.state = inflater.step(slice);
      VERIFY(++steps <= 2 + (from.size() + kMost) / slice + from.size());
    }
    if (read.state == Inflater::State::kDone) {
      read.bytes = inflater.take_bytes();
      const Allowance::Share share = inflater.take_share();
      VERIFY(read.bytes.size() <= kMost && share.bytes() <= read.bytes.capacity());
    }
  }
  VERIFY(allowance.held() == 0);
  return read;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  const size_t slice = size_t{1} + input.byte() % 64;
  const std::string_view bytes = input.rest().substr(0, 2048);
  VERIFY(inflate(bytes, slice) == inflate(bytes, kRoom));
  if (const auto shorter = service::deflated(bytes)) {
    VERIFY(shorter->size() < bytes.size());
    VERIFY(inflate(*shorter, slice) == (Read{Inflater::State::kDone, std::string(bytes)}));
  }
  return 0;
}
