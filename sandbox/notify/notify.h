#pragma once
// The daemon's half of a cell's filter: takes the calls that the filter did not settle, decides,
// and answers. It reads a bounded amount from a job. A refused call is a violation and is named in
// the result.
//
// "Proceed" is safe only because something else enforces: between our look at the path and the
// kernel's own, a thread of the job may change it. Mounts and Landlock decide what can be written;
// this code decides only the label. Calls with no second fence (sockets, exec, processes) are
// refused by number and registers alone, never by the job's memory.

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
  std::optional<uint32_t> reader = {};  // whose ids may read its memory, where ours do not do
};

// The facts about a cell that a ruling needs. Owns nothing.
struct CellView {
  int init_pid = -1;  // pid 1 of the cell, by its number in the daemon's pid namespace
  int root_fd = -1;   // O_PATH of the root as pid 1 sees it (/proc/PID/root): its mounts count
  uint64_t scratch_device = 0;  // st_dev of the scratch tmpfs
  // The real path of a scratch that is no file system of its own. Everything beneath is scratch.
  std::string scratch_path = {};
  Profile profile = Profile::kDefault;
  // The owner of files that a job makes, where it is not our user.
  std::optional<uint32_t> owner = {};
};

struct Refusal {
  std::string call;      // "openat", "i386 socketcall"
  std::string argument;  // a path, address or flags in words, escaped and bounded; may be empty
  int error = 0;
  bool operator==(const Refusal&) const = default;
};

// The reason for which an allowed call is notified: the filter of this cell counts or compares
// (FilterVariant), and only the caller of rule() has the count.
enum class Asks : uint8_t {
  kNothing,
  kProcess,  // clone, fork or vfork: one more thread or process
  kSignal,   // Ruling::signal says to whom
  kMemfd,    // memfd_create: one more file in memory
  kPipe,     // pipe or pipe2: one more
};

struct SignalAsked {
  enum class To : uint8_t {
    kProcess,  // kill, rt_sigqueueinfo: `target` as kill(2) reads it, so also 0, -1 and groups
    kThread,   // tkill, tgkill, rt_tgsigqueueinfo: a thread id
    kPidfd,    // pidfd_send_signal: a descriptor, which another thread may exchange meanwhile
  };
  To to = To::kProcess;
  int target = 0;
  int process = 0;  // the thread's process where the call names it (tgkill), else 0
  int signal = 0;
  bool operator==(const SignalAsked&) const = default;
};

// Proceed; or refuse and label; or, without a refusal, fail quietly with `error`. A ruling that
// asks is a refusal as it stands; the caller may put go_on() or fail_quietly(EAGAIN) in its place.
// All it goes by is in registers, so "go on" lets through exactly the call that was looked at.
struct Ruling {
  bool proceed = false;
  std::optional<Refusal> refusal;
  int error = 0;
  bool unseen = false;  // a quiet failure, but because we had not the means to look
  Asks asks = Asks::kNothing;
  SignalAsked signal;  // with kSignal
};
Ruling go_on();
Ruling fail_quietly(int error);

// Once per listener. Asks for wake-ups on the caller's CPU (Linux 6.6); true if the kernel can.
bool prepare_listener(int listener);

// The next waiting call; nothing if there is none, or if its caller died meanwhile. An error with
// code EPIPE when the last process under the filter is gone: the listener will never speak again.
sys::Result<std::optional<Notice>> receive_notice(int listener);

// Reads the job's memory and file system, and waits there for kernel locks, which a job of the
// lowest class may hold. So a loop with deadlines asks rule_by_registers(), and leaves calls that
// it does not settle to another thread.
Ruling rule(int listener, const CellView& cell, const Notice& notice);
// As rule(), but for the words of a ruling that asks; nothing if registers do not tell.
std::optional<Ruling> rule_by_registers(const CellView& cell, const Notice& notice);

// A caller that died meanwhile is no error.
sys::Result<void> answer(int listener, const Notice& notice, const Ruling& ruling);

}  // namespace sandbox
