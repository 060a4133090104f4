#pragma once
// TemplateLine: the socket to a template process, by which cells are ordered. Its owner, a Zygote,
// hears the answers on its loop; orders may come from any thread. Thread-safe.

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/sessions/incarnation.h"
#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"
#include "shim/protocol.h"

namespace runtime {

class TemplateLine : public Incarnation {
 public:
  // Called with CellBorn of an order and the cell's pidfd, on the owner's thread.
  using Born = std::function<void(const shim::CellBorn&, sys::OwnedFd)>;

  TemplateLine(std::string identity, sys::OwnedFd socket)
      : Incarnation(std::move(identity)), socket_(std::move(socket)) {}

  // EPIPE or ECONNRESET: there is no template any more. EAGAIN: too many wait already. `born` is
  // called once, unless the owner goes before the process does.
  sys::Result<void> order(const shim::CellOrder& order, const std::vector<int>& fds, Born born);
  // Its template's jobs of mode kWarm run in its own interpreter.
  bool runs_in_place() const { return in_place_; }

  // The owner's.
  int socket() const { return socket_.get(); }  // until hang_up()
  void begin(bool in_place) { in_place_ = in_place; }
  void end_orders();  // the template is gone: none is taken any more
  bool has_orders() const;
  // What waits for the first order, if that is of this cell.
  std::optional<Born> take(uint64_t cell);
  // The first order fails.
  void fail_first(int error);
  void hang_up();

 private:
  mutable std::mutex mutex_;  // sent in the order in which they are kept
  sys::OwnedFd socket_;
  std::deque<std::pair<uint64_t, Born>> orders_;  // answers come in the same order
  std::atomic<bool> in_place_{false};
};

}  // namespace runtime
