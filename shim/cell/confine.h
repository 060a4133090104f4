#pragma once
// The steps by which a cell's pid 1, and the holder of its jobs' memory, give up what they need no
// more (setup.cc, lend.cc). Each runs once in a cell's life.

#include <linux/capability.h>
#include <unistd.h>

#include <cerrno>

#include "sandbox/caps.h"
#include "sandbox/sys/fd.h"
#include "sandbox/sys/socket.h"
#include "shim/cell/cell.h"

namespace shim {

// Pid 1 needs these for its duties in the cell's user namespace: giving jobs their id, ending them,
// choosing their pid, wiping directories they made unreadable. The ones that the template was not
// given, on levels below full, are not missed: probe.cc has made sure of the first three.
constexpr sandbox::CapMask kInitCapabilities =
    sandbox::cap_bit(CAP_SETUID) | sandbox::cap_bit(CAP_SETGID) | sandbox::cap_bit(CAP_KILL) |
    sandbox::cap_bit(CAP_DAC_OVERRIDE) | sandbox::cap_bit(CAP_FOWNER) |
    sandbox::cap_bit(40 /* CAP_CHECKPOINT_RESTORE, Linux 5.9 */);

// Tells the daemon which step failed, and ends the cell.
class Setup {
 public:
  explicit Setup(int socket) : socket_(socket) {}

  void require(Step step, int error) const {
    if (error == 0) return;
    CellReady ready;
    ready.failure = {step, error};
    (void)sys::send_message(socket_, sys::bytes_of(ready));
    ::_exit(1);
  }
  // For calls that answer -1 and set errno.
  void require_call(Step step, long result) const { require(step, result < 0 ? errno : 0); }

  int socket() const { return socket_; }

 private:
  int socket_;
};

// Keeps `kept` of the capabilities, and what could give others back is closed.
void drop_privileges(const Setup& setup, const Cell& cell, sandbox::CapMask kept);

void deny_new_code(const CellOrder& order);

// `filters`: a file with those of the order, one behind the other.
enum class FilterFor { kForks, kBorrowers };
sys::OwnedFd load_filter(const Setup& setup, const CellOrder& order, int filters, FilterFor whom);

}  // namespace shim
