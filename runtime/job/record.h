#pragma once
// JobRecord: what a result says beside its verdict so that its job can be run again: the job as it
// was said, digests of its parts, and where it ran. Only jobs that ask for it (`record`) have one.
// Plain values.

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace runtime {

// SHA-256 of the parts of a job, as "sha256:..". Empty: the job has no such part.
struct JobDigests {
  std::string job;  // of all of it, as it is written in a record
  std::string source, stdin_bytes;
  std::string calls;                                       // of their JSON
  std::vector<std::pair<std::string, std::string>> files;  // by path; `sources` are among them
  bool operator==(const JobDigests&) const = default;
};

// A job as it was said, every default written out.
struct RecordedJob {
  std::string json;
  JobDigests digests;
  bool operator==(const RecordedJob&) const = default;
};

// Where a job ran. Texts are empty where there is no such thing.
struct Origin {
  std::string zygo;     // its version
  std::string kernel;   // "Linux 6.1.0-13-amd64"
  std::string machine;  // "x86_64, AMD EPYC 7763 64-Core Processor"
  // The template: its identity ("python@sha256:.."), and what goes into that.
  std::string template_name, identity;
  std::string interpreter, interpreter_digest;  // a path, and "sha256:.." of the file
  std::vector<std::string> preloads;
  std::string setup, image;  // digests
  unsigned seed = 0;         // of the variant of the template, in the first run
  bool operator==(const Origin&) const = default;
};

struct JobRecord {
  std::shared_ptr<const RecordedJob> job;
  std::shared_ptr<const Origin> origin;  // none: the engine does not say
};

}  // namespace runtime
