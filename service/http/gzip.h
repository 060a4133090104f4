#pragma once
// Gzip in both directions, in bounded steps. The only place that knows zlib. Pure but for the
// Allowance, which is asked before bytes are held. Each object is used by one thread at a time.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "service/http/allowance.h"

struct z_stream_s;

namespace service {

// The body of a request, inflated in slices, so that neither a long body nor a short one that
// becomes long (1000:1) holds its thread for longer than the caller wants.
class Inflater {
 public:
  enum class State : uint8_t {
    kMore,     // step() has more to do
    kDone,     // all of it was inflated, and nothing follows it
    kBroken,   // it is no gzip stream, or it is damaged, or it ends too early
    kTooLong,  // there are more than `most` bytes in it
    kNoRoom    // the share does not let so many bytes be held
  };

  // `from` outlives this. `share` is empty; it counts what is inflated and zlib's own memory.
  Inflater(std::string_view from, size_t most, Allowance::Share share);
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Reads at most `slice` bytes more, and makes at most `slice` more and what one read gives.
  State step(size_t slice);

  // After kDone, once: the bytes, and the share that counts them and nothing else.
  std::string take_bytes();
  Allowance::Share take_share();

 private:
  bool open();
  State keep(std::string_view bytes);
  bool reserve(size_t bytes);
  size_t expected() const;

  const std::string_view from_;
  const size_t most_;
  Allowance::Share share_;
  std::unique_ptr<z_stream_s> zlib_;  // none: not begun
  size_t at_ = 0;                     // within from_
  std::string bytes_;
};

// `bytes` as a gzip stream at level 1. Nothing where that would not be shorter, or there is no
// memory. Its capacity is that of `bytes.size()`, which is below 4 GiB. Takes 2 to 6 ms for each MB
// of JSON, and up to 45 for what hardly gets shorter.
std::optional<std::string> deflated(std::string_view bytes);

}  // namespace service
