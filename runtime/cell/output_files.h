#pragma once
// The files that a job left in its scratch. The daemon reads them once every process of the job is
// gone and before anything is wiped, on a thread beside the loop. Names, globs and contents are
// hostile bytes: no link is followed, nothing but regular files is opened, and walk, work and size
// are bounded.

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/job/result.h"
#include "sandbox/sys/units.h"

namespace runtime {

// The budget for collecting them once.
struct OutputFilesBudget {
  sys::Bytes bytes{};  // of all files together
  // Comparisons of a name, or of a character of one, with a part of a glob: some tenths of a
  // second. Counted and not timed, so that it is the same on every machine.
  uint64_t steps = 200'000'000;
  sys::Nanoseconds cpu = sys::Nanoseconds::max();  // of the calling thread, also within the kernel
  const std::atomic<bool>* stop = nullptr;         // true: nobody waits for it any more
};

// The files below `directory` whose paths match one of `globs`: `*` and `?` and `[..]` within a
// part of a path, `**` for any number of parts. A file that would exceed the bytes of the budget is
// refused, as are links, pipes, sockets and devices, and the place at which steps or time are used
// up. A glob that ends in a slash is for directories, which are files without content whose paths
// end in one. `owner`: whose files they are, where they are not ours.
OutputFiles collect_outputs(int directory, const std::vector<std::string>& globs,
                            const OutputFilesBudget& budget, std::optional<uint32_t> owner);

bool glob_matches(std::string_view glob, std::string_view path);

}  // namespace runtime
