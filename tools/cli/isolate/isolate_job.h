#pragma once
// Turns isolate's options into a job: the program, its limits, its environment, the files of its
// directories. Reads the host's files, runs nothing.

#include <optional>
#include <string>
#include <vector>

#include "runtime/engine/engine.h"
#include "runtime/job/job.h"
#include "tools/cli/isolate/contents.h"
#include "tools/cli/isolate/layout.h"

namespace cli {

// The place that one of the program's streams comes from or goes to.
struct Stream {
  enum class Kind : uint8_t { kOurs, kNowhere, kFile };
  Kind kind = Kind::kOurs;
  Place place;  // kFile
};

struct IsolateJob {
  runtime::Job job;
  struct Source {
    const HostFolder* folder = nullptr;
    std::vector<Taken> taken;
    std::vector<std::string> passed_over;
  };
  std::vector<Source> sources;  // the directories that come back
  Stream in, out, err;
  sys::OwnedFd input;   // kFile
  uint64_t placed = 0;  // bytes of the job's memory that are its files
};

// `layout` outlives the job. An error says what is wrong in the words of the sandbox.
sys::Result<IsolateJob> make_isolate_job(const IsolateOptions& options, const Layout& layout,
                                         const std::optional<BoxQuota>& quota);

// The template of such jobs: any program, with processes, as far as its limit allows.
runtime::TemplateSpec isolate_template();

}  // namespace cli
