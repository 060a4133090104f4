#pragma once
// A process that rests at the end of a step, as the kernel tells it: by /proc/PID, whoever it is,
// and not by its own word. Whoever looks needs the right to trace it (ptrace(2)).

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/sessions/address_areas.h"
#include "runtime/sessions/going_on.h"
#include "runtime/sessions/scratch_look.h"
#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"
#include "shim/state/format.h"

namespace runtime {

struct OpenedFile {
  int number = -1;
  uint32_t flags = 0;
  uint64_t offset = 0;
  int same_as = -1;
  std::string path;
};

// Whether it does nothing, and how often it has been on a CPU: the same later means that it has
// done nothing in between (proc_pid_status(5)).
// Of contexts.
struct Switches {
  uint64_t voluntary = 0, forced = 0;
  bool operator==(const Switches&) const = default;
};

struct Stillness {
  std::string lacks;  // in words; empty: it has stopped, alone, and nothing will wake it
  Switches switches;
  bool sees_timers = false;  // this kernel shows those that could wake it
};

struct ProcessStanding {
  uint32_t umask = 0;
  uint64_t blocked = 0;   // signals
  std::string directory;  // relative to the scratch
  std::vector<OpenedFile> files;
  bool has_changed = false;  // something of its descriptors that no node keeps
};

class RestingProcess {
 public:
  // An error where it is no child of `parent`; 0: whoever's.
  static sys::Result<RestingProcess> look_at(int pid, int parent = 0);

  // Still there: then all that was read in between was of this process.
  bool is_there() const;
  int pid() const { return pid_; }
  Stillness stillness_at_first() const { return stillness_of(status_); }
  sys::Result<Stillness> stillness() const;

  sys::Result<ProcessTexts> texts() const;
  sys::Result<std::vector<AddressArea>> areas() const;
  // Those that are its own: written to since its template made its image, present or swapped. Those
  // outside of `areas` are left out, and all behind so many bytes.
  struct OwnPages {
    std::vector<shim::state::Run> runs;
    std::vector<shim::state::Run> unwritten;  // of these: protected, and not written to since
    bool are_all = true;
  };
  sys::Result<OwnPages> own_pages(const std::vector<AddressArea>& areas, uint64_t most_bytes) const;
  // Empty, or what of it could not be kept, in words. `given`: the files that the step was given as
  // its first descriptors.
  sys::Result<std::string> stand(const ScratchLook& scratch, const std::array<FileNumber, 3>& given,
                                 ProcessStanding& standing) const;
  // Reads runs one behind the other, in pieces. `take` ends it by an error.
  using Take = std::function<sys::Result<void>(std::string_view bytes)>;
  sys::Result<void> read(const std::vector<shim::state::Run>& runs, const Take& take) const;

 private:
  Stillness stillness_of(std::string_view status) const;
  sys::Result<std::string> read_text(const char* name, size_t most) const;
  sys::Result<std::vector<int>> descriptors() const;
  sys::Result<std::string> take_descriptor(int number, const ScratchLook& scratch,
                                           ProcessStanding& standing) const;
  sys::Result<bool> is_same_file(int one, int other) const;
  sys::Result<void> read_slowly(uint64_t begin, char* into, size_t bytes) const;

  int pid_ = -1;
  sys::OwnedFd pidfd_, folder_;
  std::string status_;  // as it was at first
};

}  // namespace runtime
