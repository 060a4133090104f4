#include "shim/cell/confine.h"

#include <sys/mman.h>
#include <sys/prctl.h>

#include <span>
#include <utility>

#include "sandbox/seccomp/seccomp.h"

namespace shim {

using sandbox::Layer;

void drop_privileges(const Setup& setup, const Cell& cell, sandbox::CapMask kept) {
  if (cell.layers.has(Layer::kCaps)) {
    const sandbox::CapMask held = sandbox::permitted_caps();
    // Without CAP_SETPCAP there is nothing that could come back: no_new_privs is set below.
    if (held & sandbox::cap_bit(CAP_SETPCAP)) {
      setup.require(Step::kCapabilities, sandbox::drop_bounding_set());
    }
    setup.require(Step::kCapabilities, sandbox::keep_only(kept & held));
  }
  setup.require_call(Step::kCapabilities, ::prctl(PR_SET_DUMPABLE, 0));
  if (cell.layers.has(Layer::kNoNewPrivs))
    setup.require(Step::kCapabilities, sandbox::set_no_new_privs());
}

// The second fence behind the filter, inherited by all that the cell forks and executes: memory
// that was not executable never becomes so (PR_SET_MDWE, Linux 6.3; older kernels have the filter).
void deny_new_code(const CellOrder& order) {
  constexpr int kSetMdwe = 65;
  constexpr unsigned long kRefuseExecGain = 1;
  if (!order.makes_code) (void)::prctl(kSetMdwe, kRefuseExecGain, 0, 0, 0);
}

sys::OwnedFd load_filter(const Setup& setup, const CellOrder& order, int filters, FilterFor whom) {
  const size_t bytes = size_t{order.filter_bytes} + order.borrower_filter_bytes;
  void* both = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, filters, 0);
  setup.require(Step::kFilter, both == MAP_FAILED ? errno : 0);
  const std::span all(static_cast<const std::byte*>(both), bytes);
  auto loaded = sandbox::load_filter(whom == FilterFor::kForks ? all.first(order.filter_bytes)
                                                               : all.subspan(order.filter_bytes));
  if (!loaded.ok())
    setup.require(Step::kFilter, loaded.error().code() ? loaded.error().code() : EINVAL);
  ::munmap(both, bytes);
  return std::move(*loaded);
}

}  // namespace shim
