#pragma once
// Artefacts: what a compiler made of a source, kept so that the same source is compiled once
// (scheduler/artefact_store.h). Plain values.

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "runtime/job/job.h"
#include "runtime/job/result.h"
#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"

namespace runtime {

struct Artefact {
  std::vector<InputFile> files;  // to be placed; without the program
  sys::OwnedFd program;  // an executable in memory, read-only; none where nothing is run by it
  uint64_t bytes = 0;
  int64_t built_us = 0;  // how long it took

  // `program`: the path of the file that becomes the program; empty: none does.
  static sys::Result<std::shared_ptr<const Artefact>> create(std::vector<InputFile> files,
                                                             const std::string& program,
                                                             int64_t built_us);
};

// The end of a build: an artefact, or the result of the job that wanted one.
using Built = std::variant<std::shared_ptr<const Artefact>, std::shared_ptr<const JobResult>>;

}  // namespace runtime
