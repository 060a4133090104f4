#pragma once
// The request of a job (value_format.h) as views into its bytes. They come from the daemon, but
// every length is checked and nothing is trusted: a view never leaves the request. Runs in the
// job's process.

#include <cstdint>
#include <optional>
#include <string_view>

#include "shim/fixed/fixed.h"
#include "shim/value_format.h"

namespace shim {

// A place in encoded bytes. Each read moves on; the first that fails makes the reader broken for
// good, and then every read gives nothing.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}

  bool broken() const { return broken_; }
  std::string_view left() const { return left_; }
  char peek() const { return left_.empty() ? '\0' : left_.front(); }

  char tag();
  uint32_t count();
  std::string_view take(size_t size);
  int64_t integer(char tag);          // the content of u or i
  uint32_t open(Tag container);       // tag and number of items
  std::string_view text(Tag string);  // tag and content of s or b
  bool truth();
  std::string_view skip(unsigned depth = 0);  // one value; its bytes

 private:
  void fail() { broken_ = true, left_ = {}; }
  std::string_view left_;
  bool broken_ = false;
};

// A container whose items are still encoded.
struct Items {
  uint32_t count = 0;  // pairs, in a dict
  std::string_view bytes;
};

struct Request {
  std::string_view source;
  std::string_view encoding;  // of the source; empty: it is UTF-8
  Mode mode = Mode::kScript;
  std::string_view function;
  Items calls;
  bool arrays = false;
  Items argv;
  Items environment;
  Items files;
  std::optional<FixedView> fixed;
};

std::optional<Request> parse_request(std::string_view bytes);

}  // namespace shim
