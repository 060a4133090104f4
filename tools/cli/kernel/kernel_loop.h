#pragma once
// KernelLoop: a kernel whose clients speak over ZeroMQ, until it ends. One thread.

#include <string>
#include <vector>

#include "service/jupyter/kernel.h"
#include "tools/cli/kernel/engine_cells.h"
#include "tools/cli/kernel/sockets.h"

namespace cli {

class KernelLoop : service::jupyter::Clients {
 public:
  struct Parts {
    EngineCells& cells;
    Sockets& sockets;
    std::string key;
    std::vector<int> ends;  // descriptors: the kernel ends when one can be read
    std::string version;    // zygo's
  };
  explicit KernelLoop(Parts parts);
  // Until it is told to end. An error: it cannot begin.
  sys::Result<void> run();

 private:
  using Channel = service::jupyter::Channel;

  void send(Channel channel, const service::jupyter::Message& message) override;
  bool has_room() const override { return true; }  // that of ZeroMQ has no bound
  void gather() override;
  void take(Channel channel);
  bool wait();

  const Parts parts_;
  service::jupyter::Kernel kernel_;
};

}  // namespace cli
