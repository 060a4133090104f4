#pragma once
// The node's file where map_node() has put it: its tables and its names.

#include "shim/state/format.h"

namespace shim::state {

[[gnu::always_inline]] inline const char* node() {
  return reinterpret_cast<const char*>(kNodeAddress);
}
[[gnu::always_inline]] inline const Header& header() {
  return *reinterpret_cast<const Header*>(node());
}
// One of its files; all together have so many bytes.
[[gnu::always_inline]] inline const char* file_at(uint32_t file) {
  const char* at = node();
  for (uint32_t i = 0; i < file; ++i) at += header().file_bytes[i];
  return at;
}
[[gnu::always_inline]] inline uint64_t mapped_bytes() {
  return static_cast<uint64_t>(file_at(header().files) - node());
}
[[gnu::always_inline]] inline const Area* areas() {
  return reinterpret_cast<const Area*>(&header() + 1);
}
[[gnu::always_inline]] inline const Run* runs() {
  return reinterpret_cast<const Run*>(areas() + header().areas);
}
[[gnu::always_inline]] inline const Entry* entries() {
  return reinterpret_cast<const Entry*>(runs() + header().runs);
}
[[gnu::always_inline]] inline const Descriptor* descriptors() {
  return reinterpret_cast<const Descriptor*>(entries() + header().entries);
}
[[gnu::always_inline]] inline const char* text_of(Name name) {
  return reinterpret_cast<const char*>(descriptors() + header().descriptors) + name.at;
}

}  // namespace shim::state
