#pragma once
// The daemon's half of a cell's filter: takes the calls that the filter did not settle, decides,
// and answers. Called from the event loop when the listener is readable; it never blocks, and what
// it reads from a job is bounded. A call that is refused is a violation and is named.
//
// "Proceed" is safe only because something else enforces: between our look at the path and the
// kernel's own, a thread of the job may change it. Mounts and Landlock decide what can be written;
// what is decided here is the label. Calls with no second fence (sockets, exec, processes) are
// refused by number and register alone, never because of what memory said.

#include <cstdint>
#include <optional>
#include <string>

#include "sandbox/policy.h"
#include "sandbox/sys/result.h"

namespace sandbox {

// One call, waiting for its answer. `pid` is the calling thread as this process sees it, or 0.
struct Notice {
  uint64_t id = 0;
  int pid = 0;
  int nr = 0;
  uint32_t arch = 0;
  uint64_t args[6] = {};
  uint64_t ip = 0;
};

// What a ruling must know of the cell. Nothing is owned.
struct CellView {
  int init_pid = -1;  // pid 1 of the cell, by its number in the daemon's pid namespace
  int root_fd = -1;   // O_PATH of the root as pid 1 sees it (/proc/PID/root): its mounts count
  uint64_t scratch_device = 0;  // st_dev of the scratch tmpfs
  Profile profile = Profile::kDefault;
};

struct Refusal {
  std::string call;      // "openat", "i386 socketcall"
  std::string argument;  // a path, address or flags in words, escaped and bounded; may be empty
  int error = 0;
  bool operator==(const Refusal&) const = default;
};

// Proceed; or refuse and label; or, without a refusal, fail quietly with `error`.
struct Ruling {
  bool proceed = false;
  std::optional<Refusal> refusal;
  int error = 0;
};

// Once per listener. Asks for wake-ups on the caller's CPU (Linux 6.6); true if the kernel can.
bool prepare_listener(int listener);

// The next waiting call; nothing if there is none, or if its caller died meanwhile. An error with
// code EPIPE when the last process under the filter is gone: the listener will never speak again.
sys::Result<std::optional<Notice>> receive_notice(int listener);

Ruling rule(int listener, const CellView& cell, const Notice& notice);

// A caller that died meanwhile is no error.
sys::Result<void> answer(int listener, const Notice& notice, const Ruling& ruling);

}  // namespace sandbox
