#include "tools/cli/kernel/kernel_loop.h"

#include <utility>

#include "tools/cli/kernel/wire.h"
#include "tools/cli/text.h"

namespace cli {

using service::jupyter::Message;

KernelLoop::KernelLoop(Parts parts)
    : parts_(std::move(parts)), kernel_({parts_.cells, *this, parts_.version}) {}

sys::Result<void> KernelLoop::run() {
  kernel_.begin();
  while (!kernel_.is_ending() && wait()) {
    parts_.cells.write_on();
    parts_.cells.heed();
    kernel_.look();
    take(Channel::kControl);
    take(Channel::kStdin);
    gather();
  }
  if (!kernel_.broken().empty()) return sys::Error::because(kernel_.broken());
  return {};
}

// False: it ends.
bool KernelLoop::wait() {
  std::vector<Sockets::Watched> others;
  for (const int fd : parts_.ends) others.push_back({fd, ZMQ_POLLIN});
  others.push_back({parts_.cells.fd(), ZMQ_POLLIN});
  others.push_back({parts_.cells.input_fd(), ZMQ_POLLOUT});
  parts_.sockets.wait(others);
  for (size_t i = 0; i < parts_.ends.size(); ++i) {
    if (others[i].ready) return false;
  }
  return true;
}

void KernelLoop::take(Channel channel) {
  while (const auto frames = parts_.sockets.receive(channel)) {
    sys::Result<Message> message = read_message(*frames, parts_.key);
    if (message)
      kernel_.receive(channel, std::move(message).value());
    else
      write_error_line("zygo kernel: " + message.error().text());
  }
}

void KernelLoop::gather() { take(Channel::kShell); }

void KernelLoop::send(Channel channel, const Message& message) {
  parts_.sockets.send(channel, write_message(message, parts_.key));
}

}  // namespace cli
