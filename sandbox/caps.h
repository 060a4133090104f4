#pragma once
// Capabilities and no_new_privs of the calling thread. Made for the time after a fork: raw system
// calls, no allocation, no libcap. Functions that can fail return 0 or errno.

#include <cstdint>

namespace sandbox {

// A set of capabilities: bit CAP_KILL, and so on.
using CapMask = uint64_t;
constexpr CapMask cap_bit(unsigned capability) { return CapMask{1} << capability; }

// Effective, permitted and inheritable become empty; the ambient set follows by itself.
int drop_all_caps();
// Effective and permitted become exactly `mask`, inheritable empty. EPERM if one of them is
// missing.
int keep_only(CapMask mask);
// Needs CAP_SETPCAP: do it before the sets are dropped.
int drop_bounding_set(CapMask keep = 0);

// True if any capability is effective, permitted or inheritable (or the kernel will not say).
bool has_any_cap();
// Permitted capabilities.
CapMask permitted_caps();

int set_no_new_privs();
bool has_no_new_privs();

}  // namespace sandbox
