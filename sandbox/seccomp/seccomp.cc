#include "sandbox/seccomp/seccomp.h"

#include <seccomp.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <vector>

#include "sandbox/front.h"
#include "sandbox/seccomp/mask.h"
#include "sandbox/seccomp/profiles.h"
#include "sandbox/supervisor.h"
#include "sandbox/sys/file.h"

namespace sandbox {
namespace {

struct ReleaseFilter {
  void operator()(void* context) const { seccomp_release(context); }
};
using FilterContext = std::unique_ptr<void, ReleaseFilter>;

// libseccomp answers with -errno.
sys::Result<void> checked(int code, std::string_view what) {
  if (code < 0) return sys::Error::from_errno(what, -code);
  return {};
}

uint32_t libseccomp_action(const RuleGroup& group) {
  switch (group.treatment) {
    case Treatment::kAllow:
      return SCMP_ACT_ALLOW;
    case Treatment::kQuiet:
      return SCMP_ACT_ERRNO(static_cast<uint32_t>(group.error));
    case Treatment::kNotify:
      return SCMP_ACT_NOTIFY;
  }
  return SCMP_ACT_NOTIFY;
}

sys::Result<void> add_rule(void* context, const RuleGroup& group, const Rule& rule) {
  if (rule.number < 0) return {};  // another architecture has it
  std::vector<scmp_arg_cmp> when;
  for (const Condition& c : rule.when) {
    when.push_back(c.differs ? scmp_arg_cmp{c.arg, SCMP_CMP_NE, c.value, 0}
                             : scmp_arg_cmp{c.arg, SCMP_CMP_MASKED_EQ, c.mask, c.value});
  }
  return checked(seccomp_rule_add_array(context, libseccomp_action(group), rule.number,
                                        static_cast<unsigned>(when.size()), when.data()),
                 group.file + ":" + std::to_string(group.line) + ": filter rule for " + rule.call);
}

sys::Result<void> add_group(void* context, const RuleGroup& group) {
  if (group.treatment == Treatment::kNotify) return {};  // the default
  for (const Rule& rule : group.rules) TRY(add_rule(context, group, rule));
  return {};
}

sys::Result<std::string> exported(void* context) {
  sys::OwnedFd file = TRY(sys::memfd("seccomp-filter", 0));
  TRY(checked(seccomp_export_bpf(context, file.get()), "export filter"));
  if (::lseek(file.get(), 0, SEEK_SET) < 0) return sys::Error::from_errno("rewind filter");
  return sys::read_all(file.get());
}

}  // namespace

sys::Result<std::string> compile_filter(Profile profile, const FilterVariant& variant) {
  const sys::Result<RuleGroups>& groups = rules_of(profile);
  if (!groups) return groups.error();
  FilterContext context(seccomp_init(SCMP_ACT_NOTIFY));
  if (!context) return sys::Error::because("seccomp_init failed");
  // i386 and x32 calls are named and refused like everything else that is not on the list.
  TRY(checked(seccomp_attr_set(context.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_NOTIFY),
              "notify foreign ABIs"));
  // A binary tree: the kernel walks the filter for every call number when it is loaded.
  TRY(checked(seccomp_attr_set(context.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2),
              "order filter as a tree"));
  const FilterVariant whole = variant_of(profile, variant);
  for (const RuleGroup& group : *groups) {
    if (applies(group, whole)) TRY(add_group(context.get(), group));
  }
  return trap_masked(TRY(exported(context.get())), variant);
}

sys::Result<std::string> compile_supervisor_filter(bool lends_memory) {
  const sys::Result<RuleGroups>& groups = supervisor_rules();
  if (!groups) return groups.error();
  FilterContext context(seccomp_init(SCMP_ACT_ALLOW));
  if (!context) return sys::Error::because("seccomp_init failed");
  // Foreign ABIs are let be here: every cell's own filter refuses them by name.
  TRY(checked(seccomp_attr_set(context.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ALLOW),
              "leave foreign ABIs"));
  TRY(checked(seccomp_attr_set(context.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2),
              "order filter as a tree"));
  FilterVariant variant;
  variant.borrows_memory = lends_memory;
  for (const RuleGroup& group : *groups) {
    if (!applies(group, variant)) continue;
    for (const Rule& rule : group.rules) {
      if (rule.number < 0) continue;
      TRY(checked(seccomp_rule_add_array(context.get(), SCMP_ACT_TRACE(0), rule.number, 0, nullptr),
                  "supervisor's rule for " + rule.call));
    }
  }
  return exported(context.get());
}

sys::Result<std::string> compile_front_filter() {
  const sys::Result<RuleGroups>& groups = front_rules();
  if (!groups) return groups.error();
  FilterContext context(seccomp_init(SCMP_ACT_ERRNO(EPERM)));
  if (!context) return sys::Error::because("seccomp_init failed");
  TRY(checked(seccomp_attr_set(context.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS),
              "refuse foreign ABIs"));
  TRY(checked(seccomp_attr_set(context.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2),
              "order filter as a tree"));
  for (const RuleGroup& group : *groups) TRY(add_group(context.get(), group));
  return exported(context.get());
}

sys::Result<std::string> compile_observer(int descriptor) {
  FilterContext context(seccomp_init(SCMP_ACT_NOTIFY));
  if (!context) return sys::Error::because("seccomp_init failed");
  TRY(checked(seccomp_attr_set(context.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_NOTIFY),
              "notify foreign ABIs"));
  const scmp_arg_cmp to{
      .arg = 0, .op = SCMP_CMP_EQ, .datum_a = static_cast<scmp_datum_t>(descriptor), .datum_b = 0};
  TRY(checked(seccomp_rule_add_array(context.get(), SCMP_ACT_ALLOW, SCMP_SYS(sendmsg), 1, &to),
              "exempt sendmsg"));
  return exported(context.get());
}

}  // namespace sandbox
