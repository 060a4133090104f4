#pragma once
// LiveOutput: passes a program's output to our own stdout and stderr as it comes; the result has
// all of it once more. On a terminal control characters are shown, not obeyed, and an incomplete
// character is held back.

#include <string>
#include <string_view>

#include "runtime/job/result.h"

namespace cli {

class LiveOutput {
 public:
  // False: nobody reads one of them any more (EPIPE), or it cannot be written to (errno).
  bool write(std::string_view out, std::string_view err);
  // Writes the output of the result that was not written yet.
  bool write_rest(const runtime::JobResult& result);
  // Notes that the reader has gone, as SIGPIPE would tell a program.
  void lose_reader() { has_reader_ = false; }
  bool has_reader() const { return has_reader_; }
  bool ends_open() const { return ends_open_; }  // a line that somebody may see goes on

 private:
  struct Stream {
    explicit Stream(int descriptor) : fd(descriptor) {}
    int fd;
    size_t taken = 0;       // bytes of the program's
    std::string held_back;  // the last of them
  };
  bool write(Stream& to, std::string_view bytes, bool is_last);

  Stream out_{1}, err_{2};
  bool ends_open_ = false, has_reader_ = true;
};

}  // namespace cli
