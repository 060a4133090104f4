#pragma once
// Runs a grader on cases, several at once, each in an enclosure of its own with limits of time,
// memory and processes. On the caller's thread, which must be the only one of its process.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/enclosure/enclosure.h"
#include "tools/cli/batch/progress.h"
#include "tools/cli/certify/grader/answer.h"
#include "tools/cli/certify/grader/cases.h"
#include "tools/cli/options.h"

namespace cli {

// What a grader is run in on this host.
struct GraderFence {
  sandbox::Fence kind = sandbox::Fence::kNamespaces;
  std::vector<std::string> layered;  // directories whose changes vanish
};

class Crew {
 public:
  // `folder`: an empty directory that is its own.
  Crew(const GraderOptions& options, GraderFence fence, std::string folder);

  // What of the limits is in force: "memory", "processes".
  std::vector<std::string> limits() const;

  using OnEnd = std::function<void(const GraderCase&, const GraderEnd&)>;
  // False: `stop` (may be -1) became readable, and all is killed. An error: a grader could not be
  // started.
  sys::Result<bool> run(const std::vector<GraderCase>& cases, unsigned workers, int stop,
                        const OnEnd& on_end, const std::function<void()>& on_tick, int patience);

 private:
  struct Ear;
  struct Post;
  sys::Result<Post> start(const GraderCase& each);
  bool end_all(std::vector<Post>& posts);  // false
  sys::Result<std::optional<sandbox::CellCgroup>> make_group(const std::string& name) const;

  const GraderOptions& options_;
  const GraderFence fence_;
  const std::string folder_;
  const sandbox::CgroupRoot groups_;
  std::vector<std::string> environment_;
};

}  // namespace cli
