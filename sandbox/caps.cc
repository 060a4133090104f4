#include "sandbox/caps.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace sandbox {

namespace {

struct Sets {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct halves[2] = {};
};

bool read_sets(Sets& sets) { return ::syscall(SYS_capget, &sets.header, sets.halves) == 0; }

}  // namespace

int drop_all_caps() { return keep_only(0); }

int keep_only(CapMask mask) {
  Sets sets;
  for (unsigned half = 0; half < 2; ++half) {
    auto bits = static_cast<uint32_t>(mask >> (32 * half));
    sets.halves[half].effective = bits;
    sets.halves[half].permitted = bits;
  }
  return ::syscall(SYS_capset, &sets.header, sets.halves) == 0 ? 0 : errno;
}

int drop_bounding_set(CapMask keep) {
  for (unsigned capability = 0; capability < 64; ++capability) {
    int held = ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0);
    if (held < 0) break;  // EINVAL: beyond the last one this kernel knows
    if (held == 0 || (keep & cap_bit(capability))) continue;
    if (::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0) return errno;
  }
  return 0;
}

bool has_any_cap() {
  Sets sets;
  if (!read_sets(sets)) return true;
  for (const __user_cap_data_struct& half : sets.halves) {
    if (half.effective | half.permitted | half.inheritable) return true;
  }
  return false;
}

CapMask permitted_caps() {
  Sets sets;
  if (!read_sets(sets)) return 0;
  return sets.halves[0].permitted | CapMask{sets.halves[1].permitted} << 32;
}

int set_no_new_privs() { return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : errno; }

bool has_no_new_privs() { return ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1; }

}  // namespace sandbox
