#pragma once
// Watching every system call of a job (`zygo run --observe`): its cell's filter notifies all of
// them, the policy is applied here, in user space, by the same data, and counted. Slow by a factor
// of ten and more, and the verdict is the same.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/job/result.h"
#include "sandbox/notify/notify.h"
#include "sandbox/seccomp/seccomp.h"

namespace runtime {

class Observer {
 public:
  Observer(sandbox::Profile profile, sandbox::FilterVariant variant)
      : profile_(profile), variant_(std::move(variant)) {}

  // Rules as the cell's own filter would have done without asking; none: it would have asked.
  std::optional<sandbox::Ruling> settle(const sandbox::Notice& notice) const;
  // Counts a call by the ruling that it got in the end.
  void count(const sandbox::Notice& notice, const sandbox::Ruling& ruling);
  // Returns the calls of the job, most frequent first; the observer begins anew.
  std::vector<ObservedCall> take();

 private:
  using Key = std::pair<std::string, int>;  // name and error; 0: allowed, -1: refused
  std::optional<sandbox::Profile> least_profile(const sandbox::Notice& notice,
                                                const sandbox::Ruling& ruling) const;

  sandbox::Profile profile_;
  sandbox::FilterVariant variant_;
  std::map<Key, ObservedCall> calls_;
};

}  // namespace runtime
