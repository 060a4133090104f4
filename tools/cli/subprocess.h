#pragma once
// A program that this one starts, feeds and listens to until it ends.

#include <string>
#include <vector>

#include "sandbox/sys/result.h"
#include "sandbox/sys/units.h"

namespace cli {

struct Subprocess {
  std::string file;  // a path, or a name that is looked up in PATH
  std::vector<std::string> argv;
  std::string input = {};           // its stdin
  sys::Milliseconds most{120'000};  // it is killed then
  size_t output = size_t{4} << 20;  // more of either stream is dropped
};

struct Ended {
  int code = 0;  // 128 and more: by a signal
  std::string out, err;
  bool stopped = false;  // it was asked to end, because `stop` was readable
  bool timed_out = false;
};

// Signals are as a new program has them. `stop`: a descriptor, or -1 for none.
sys::Result<Ended> run_subprocess(Subprocess what, int stop);

}  // namespace cli
