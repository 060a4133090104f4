#pragma once
// Reports the end of a run in isolate's terms: the status of its meta file, its line on stderr, its
// exit code. Pure.

#include <string>

#include "runtime/job/result.h"
#include "tools/cli/isolate/options.h"

namespace cli {

struct IsolateEnd {
  enum class Status : uint8_t { kWell, kRunTimeError, kSignal, kTimeout, kSandbox };
  Status status = Status::kWell;
  std::string message;  // empty when it ended well
  int exit_code = 0;
  int signal = 0;  // kSignal; 0: the run was interrupted
  bool killed = false, out_of_memory = false;
  int code = 0;  // kRunTimeError: the program's exit status
  bool operator==(const IsolateEnd&) const = default;
};

IsolateEnd end_of(const runtime::JobResult& result, const IsolateOptions& options);
// Our own trouble, before there was anything to run.
IsolateEnd trouble(std::string message);

// `placed`: bytes of the memory that are the box's files, not the program's doing.
std::string meta_text(const IsolateEnd& end, const runtime::JobResult& result,
                      const IsolateOptions& options, uint64_t placed);
std::string meta_text(const IsolateEnd& end);  // of trouble

// The line ends without a newline.
std::string status_line(const IsolateEnd& end, const runtime::JobResult& result);

}  // namespace cli
