#include "tools/cli/one_job.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <mutex>

namespace cli {
namespace {

constexpr int kCancelPatienceMs = 500;

// Where a shard leaves the one result; shared with the callback, which may outlive our wait.
struct Mailbox {
  sys::OwnedFd arrived{::eventfd(0, EFD_CLOEXEC)};
  std::mutex mutex;
  std::optional<runtime::JobResult> result;

  void put(runtime::JobResult made) {
    std::lock_guard lock(mutex);
    result = std::move(made);
    uint64_t one = 1;
    [[maybe_unused]] ssize_t n = ::write(arrived.get(), &one, sizeof one);
  }
  bool wait(int stop, int timeout_ms) {
    std::array<pollfd, 2> entries{{{arrived.get(), POLLIN, 0}, {stop, POLLIN, 0}}};
    while (::poll(entries.data(), entries.size(), timeout_ms) < 0 && errno == EINTR) {
    }
    return entries[0].revents != 0;
  }
};

}  // namespace

runtime::JobResult run_one(runtime::Engine& engine, runtime::Job job, const StopSignals* stop) {
  runtime::JobResult cancelled;
  cancelled.id = job.id;
  cancelled.verdict = {runtime::Outcome::kCancelled, "", runtime::By::kCaller, {}};

  auto mailbox = std::make_shared<Mailbox>();
  engine.submit(std::move(job),
                [mailbox](runtime::JobResult result) { mailbox->put(std::move(result)); });
  if (!mailbox->wait(stop == nullptr ? -1 : stop->fd(), -1)) {
    engine.cancel_all();
    mailbox->wait(-1, kCancelPatienceMs);
  }
  std::lock_guard lock(mailbox->mutex);
  return mailbox->result ? *std::move(mailbox->result) : cancelled;
}

}  // namespace cli
