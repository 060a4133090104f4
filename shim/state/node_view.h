#pragma once
// The node's file where map_node() has put it: its tables and its names.

#include "shim/state/format.h"

namespace shim::state {

inline const char* node() { return reinterpret_cast<const char*>(kNodeAddress); }
inline const Header& header() { return *reinterpret_cast<const Header*>(node()); }
inline const Area* areas() { return reinterpret_cast<const Area*>(&header() + 1); }
inline const Run* runs() { return reinterpret_cast<const Run*>(areas() + header().areas); }
inline const Entry* entries() { return reinterpret_cast<const Entry*>(runs() + header().runs); }
inline const Descriptor* descriptors() {
  return reinterpret_cast<const Descriptor*>(entries() + header().entries);
}
inline const char* text_of(Name name) {
  return reinterpret_cast<const char*>(descriptors() + header().descriptors) + name.at;
}

}  // namespace shim::state
