#pragma once
// Outcome: the part of a job's result that a model is told, within bounds. Made on any thread.
// Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/job/result.h"

namespace service::mcp {

// Text of which the middle was left out where it was too long.
struct Bounded {
  std::string text;
  uint64_t left_out = 0;  // bytes
};

struct Image {
  std::string type, base64;  // a MIME type; the bytes
};

struct Outcome {
  std::string label;
  bool ok = false;
  std::string
      why;  // what else than an exception of its own ended it, in a line; empty: nothing did
  Bounded out, err;
  std::optional<Bounded> value;  // repr() of the last expression
  std::optional<runtime::Exception> exception;
  std::vector<Image> images;
  uint64_t images_left_out = 0;
  std::string result;  // JSON: what a call returned, where that is wanted

  uint64_t left_out() const { return out.left_out + err.left_out + (value ? value->left_out : 0); }
};

struct Bounds {
  size_t text = 32 << 10;   // of each of stdout, stderr, value and traceback
  size_t images = 2 << 20;  // in base64, together
  bool wants_result = false;
};

Outcome outcome_of(const runtime::JobResult& result, const Bounds& bounds);

// Its first three quarters and its last one. `more` bytes behind it are left out already.
Bounded bounded(std::string_view bytes, size_t most, uint64_t more = 0);

// PNG or JPEG by its first bytes; empty: neither.
std::string_view image_type(std::string_view bytes);

}  // namespace service::mcp
