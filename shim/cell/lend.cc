#include "shim/cell/lend.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <initializer_list>

#include "sandbox/landlock.h"
#include "shim/borrow/holder.h"

namespace shim {

using sandbox::Layer;

namespace {

// The job that is a copy of a holder takes its id, and has the holder chosen its pid.
constexpr sandbox::CapMask kChoosesPids = sandbox::cap_bit(40 /* CAP_CHECKPOINT_RESTORE */);
constexpr sandbox::CapMask kChangesId = sandbox::cap_bit(CAP_SETUID) | sandbox::cap_bit(CAP_SETGID);

// Without a user namespace of the cell's own a capability would be one outside of it, too, and a
// job begins with what its holder has. So a holder has none: its effective ids are the job's, so
// that the job can take them, and the others are pid 1's, so that no job can signal it (kill(2)).
void take_two_identities(const Setup& setup, const CellOrder& order) {
  setup.require_call(Step::kIdentity,
                     ::syscall(SYS_setresgid, order.init_id, order.job_id, order.init_id));
  setup.require_call(Step::kIdentity,
                     ::syscall(SYS_setresuid, order.init_id, order.job_id, order.init_id));
}

// The holder confines itself as pid 1 does where jobs are forked, and further where that is not
// within namespaces: what a job does before it has confined itself, it does under these.
struct HolderOrder {
  const Setup& setup;
  const CellOrder& order;
  const Cell& cell;
  int filter;
};
void confine_holder(void* context) {
  const HolderOrder& to = *static_cast<const HolderOrder*>(context);
  deny_new_code(to.order);
  if (to.cell.reach == Reach::kNamespace) {
    drop_privileges(to.setup, to.cell, kChoosesPids | (to.cell.two_ids ? kChangesId : 0));
    if (!to.cell.two_ids) to.setup.require(Step::kRuleset, sandbox::restrict_self(kFdRuleset));
  } else {
    if (to.cell.reach == Reach::kUser) take_two_identities(to.setup, to.order);
    drop_privileges(to.setup, to.cell, 0);
    to.setup.require(Step::kRuleset, sandbox::restrict_self(kFdRuleset));
  }
  const sys::OwnedFd listener = load_filter(to.setup, to.order, to.filter, FilterFor::kBorrowers);
  to.setup.require_call(Step::kFilter, ::dup2(listener.get(), kFdListener));
}

constexpr int kScopesSignals = 6;  // the first ABI of Landlock that does, of Linux 6.12

// What keeps a job from its holder is what keeps it from pid 1: another uid, or, where all have the
// same, Landlock, and a filter that asks the daemon about each signal (SECURITY.md, the levels).
// Without mounts of its own Landlock also keeps /proc/self/mem from it, by which it could write to
// code.
bool is_fenced_off(const Cell& cell) {
  using Layers = std::initializer_list<Layer>;
  const auto has_all = [&cell](Layers needed) {
    return std::all_of(needed.begin(), needed.end(),
                       [&cell](Layer layer) { return cell.layers.has(layer); });
  };
  if (!has_all({Layer::kSeccomp, Layer::kDescriptors, Layer::kNoNewPrivs})) return false;
  if (cell.reach == Reach::kGroup) return has_all({Layer::kLandlock, Layer::kCaps});
  if (!cell.two_ids) {
    return has_all({Layer::kLandlock, Layer::kCaps}) && sandbox::landlock_abi() >= kScopesSignals;
  }
  if (!has_all({Layer::kUid})) return false;
  return cell.reach == Reach::kNamespace || has_all({Layer::kLandlock, Layer::kCaps});
}

}  // namespace

void make_holder(const Setup& setup, const CellOrder& order, int filter, Cell& cell) {
  if (order.borrower_filter_bytes == 0 || !is_fenced_off(cell) || !cell.tid_address) return;
  HolderOrder context{setup, order, cell, filter};
  cell.holder = borrow::Holder::make(cell, confine_holder, &context);
}

}  // namespace shim
