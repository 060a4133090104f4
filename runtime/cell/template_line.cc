#include "runtime/cell/template_line.h"

#include <cerrno>

#include "sandbox/sys/socket.h"

namespace runtime {

namespace {

// They fit into the socket, so that who sends never waits with the lock held.
constexpr size_t kMostOrders = 100;

}  // namespace

sys::Result<void> TemplateLine::order(const shim::CellOrder& order, const std::vector<int>& fds,
                                      Born born) {
  std::lock_guard lock(mutex_);
  if (!socket_ || has_ended()) return sys::Error::from_errno("order a cell", EPIPE);
  if (orders_.size() >= kMostOrders) return sys::Error::from_errno("order a cell", EAGAIN);
  TRY(sys::send_message(socket_.get(), sys::bytes_of(order), fds));
  orders_.emplace_back(order.cell, std::move(born));
  return {};
}

bool TemplateLine::has_orders() const {
  std::lock_guard lock(mutex_);
  return !orders_.empty();
}

std::optional<TemplateLine::Born> TemplateLine::take(uint64_t cell) {
  std::lock_guard lock(mutex_);
  if (orders_.empty() || orders_.front().first != cell) return std::nullopt;
  Born born = std::move(orders_.front().second);
  orders_.pop_front();
  return born;
}

void TemplateLine::fail_first(int error) {
  std::unique_lock lock(mutex_);
  auto [cell, born] = std::move(orders_.front());
  orders_.pop_front();
  lock.unlock();
  shim::CellBorn never;
  never.cell = cell;
  never.failure = {shim::Step::kClone, error};
  born(never, sys::OwnedFd());
}

void TemplateLine::end_orders() {
  std::lock_guard lock(mutex_);
  end();
}

void TemplateLine::hang_up() {
  std::lock_guard lock(mutex_);
  socket_.reset();
  end();
}

}  // namespace runtime
