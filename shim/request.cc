#include "shim/request.h"

#include <cstring>

namespace shim {

char Reader::tag() {
  std::string_view byte = take(1);
  return byte.empty() ? '\0' : byte.front();
}

uint32_t Reader::count() {
  std::string_view bytes = take(4);
  uint32_t value = 0;
  if (bytes.size() == 4) std::memcpy(&value, bytes.data(), 4);
  return value;
}

std::string_view Reader::take(size_t size) {
  if (size > left_.size()) {
    fail();
    return {};
  }
  std::string_view taken = left_.substr(0, size);
  left_.remove_prefix(size);
  return taken;
}

int64_t Reader::integer(char tag) {
  if (tag == static_cast<char>(Tag::kSmall)) {
    std::string_view byte = take(1);
    return byte.empty() ? 0 : static_cast<uint8_t>(byte.front());
  }
  std::string_view bytes = take(8);
  int64_t value = 0;
  if (bytes.size() == 8) std::memcpy(&value, bytes.data(), 8);
  return value;
}

uint32_t Reader::open(Tag container) {
  if (tag() != static_cast<char>(container)) fail();
  return count();
}

std::string_view Reader::text(Tag string) { return take(open(string)); }

bool Reader::truth() {
  char found = tag();
  if (found != static_cast<char>(Tag::kTrue) && found != static_cast<char>(Tag::kFalse)) fail();
  return found == static_cast<char>(Tag::kTrue);
}

std::string_view Reader::skip(unsigned depth) {
  std::string_view start = left_;
  if (depth > kMaxValueDepth) fail();
  uint64_t items = 0;
  switch (static_cast<Tag>(tag())) {
    case Tag::kNone:
    case Tag::kTrue:
    case Tag::kFalse:
      break;
    case Tag::kSmall:
      take(1);
      break;
    case Tag::kInt:
    case Tag::kFloat:
      take(8);
      break;
    case Tag::kComplex:
      take(16);
      break;
    case Tag::kBigInt:
    case Tag::kStr:
    case Tag::kBytes:
      take(count());
      break;
    case Tag::kList:
    case Tag::kTuple:
    case Tag::kSet:
    case Tag::kFrozenSet:
      items = count();
      break;
    case Tag::kDict:
      items = uint64_t{count()} * 2;
      break;
    case Tag::kArray:
      items = 3;
      break;
    default:
      fail();
  }
  for (; items > 0 && !broken_; --items) skip(depth + 1);
  return broken_ ? std::string_view{} : start.substr(0, start.size() - left_.size());
}

namespace {

Items read_items(Reader& from, Tag container) {
  Items items;
  items.count = from.open(container);
  std::string_view start = from.left();
  const uint64_t values = uint64_t{items.count} * (container == Tag::kDict ? 2 : 1);
  for (uint64_t i = 0; i < values && !from.broken(); ++i) from.skip(1);
  items.bytes = start.substr(0, start.size() - from.left().size());
  return items;
}

int64_t read_integer(Reader& from) { return from.integer(from.tag()); }

FixedView read_fixed(Reader& from) {
  FixedView fixed;
  const Items items = read_items(from, Tag::kList);
  Reader inside(items.bytes);
  fixed.seed = static_cast<uint64_t>(read_integer(inside));
  fixed.start = read_integer(inside);
  fixed.step_us = read_integer(inside);
  return fixed;
}

}  // namespace

std::optional<Request> parse_request(std::string_view bytes) {
  Reader from(bytes);
  Request request;
  const uint32_t parts = from.open(Tag::kList);
  if (parts != 8 && parts != 9) return std::nullopt;
  if (from.peek() == static_cast<char>(Tag::kList)) {
    if (from.open(Tag::kList) != 2) return std::nullopt;
    request.source = from.text(Tag::kBytes);
    request.encoding = from.text(Tag::kStr);
  } else {
    request.source = from.text(Tag::kStr);
  }
  if (from.tag() != static_cast<char>(Tag::kSmall)) return std::nullopt;
  const int64_t mode = from.integer(static_cast<char>(Tag::kSmall));
  if (mode > static_cast<int64_t>(Mode::kStepShell)) return std::nullopt;
  request.mode = static_cast<Mode>(mode);
  request.function = from.text(Tag::kStr);
  request.calls = read_items(from, Tag::kList);
  request.arrays = from.truth();
  request.argv = read_items(from, Tag::kList);
  request.environment = read_items(from, Tag::kDict);
  request.files = read_items(from, Tag::kList);
  if (parts == 9) request.fixed = read_fixed(from);
  if (from.broken() || !from.left().empty()) return std::nullopt;
  return request;
}

}  // namespace shim
