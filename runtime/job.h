#pragma once
// Job: one program with its inputs and limits, as the caller asked for it. A plain value; made by
// api/job_json from bytes, read by the engine. The field meanings are the contract's
// (docs/jobs.md).

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sandbox/policy.h"
#include "sandbox/sys/units.h"
#include "shim/value_format.h"

namespace runtime {

struct Limits {
  sys::Milliseconds wall{10000};
  sys::Milliseconds cpu{5000};
  sys::Bytes memory = sys::mebibytes(512);  // what the job adds, not what it shares
  uint32_t pids = 64;                       // processes and threads, the first one included
  sys::Bytes out = sys::kibibytes(4096);
  sys::Bytes err = sys::kibibytes(1024);
  sys::Bytes value = sys::kibibytes(16384);
  sys::Bytes disk = sys::mebibytes(64);
  uint32_t files = 4096;  // inodes of the scratch
  uint32_t open_files = 256;
  bool operator==(const Limits&) const = default;
};

struct InputFile {
  std::string path;  // relative, inside the working directory
  std::string content;
  bool executable = false;
  bool operator==(const InputFile&) const = default;
};

struct Policy {
  sandbox::Profile profile = sandbox::Profile::kDefault;
  sandbox::OnViolation on_violation = sandbox::OnViolation::kDeny;
  std::vector<std::string> require;  // a level and/or layers this job insists on
  bool operator==(const Policy&) const = default;
};

struct Job {
  std::string id;
  std::string tag = "null";  // any JSON, echoed
  std::string template_name = "python";
  std::string source;
  shim::Mode mode = shim::Mode::kScript;
  std::string func;
  std::string calls;  // value format: list of [args, kwargs]; empty in script mode
  bool array = false;
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> env;
  std::string stdin_bytes;
  int stdin_fd = -1;  // `zygo run`: the program's stdin is copied from here; borrowed
  std::vector<InputFile> files;
  Limits limits;
  Policy policy;
  unsigned determinism_runs = 1;
  int priority = 0;
  std::optional<sys::Milliseconds> deadline;
  bool observe = false;  // `zygo run --observe`: count every system call
};

}  // namespace runtime
