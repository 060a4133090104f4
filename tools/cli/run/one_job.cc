#include "tools/cli/run/one_job.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "runtime/job/live_io.h"

namespace cli {
namespace {

constexpr int kCancelPatienceMs = 500;

using Events = std::shared_ptr<sys::OwnedFd>;

Events make_events() { return std::make_shared<sys::OwnedFd>(::eventfd(0, EFD_CLOEXEC)); }

void tell(const Events& events) {
  const uint64_t one = 1;
  [[maybe_unused]] ssize_t n = ::write(events->get(), &one, sizeof one);
}

void hear(const Events& events) {
  uint64_t count = 0;
  [[maybe_unused]] ssize_t n = ::read(events->get(), &count, sizeof count);
}

// A shard leaves the one result here; shared with the callback, which may outlive our wait.
struct Mailbox {
  Events arrived = make_events();
  std::mutex mutex;
  std::optional<runtime::JobResult> result;

  void put(runtime::JobResult made) {
    std::lock_guard lock(mutex);
    result = std::move(made);
    tell(arrived);
  }
  runtime::JobResult take_or(runtime::JobResult otherwise) {
    std::lock_guard lock(mutex);
    return result ? *std::move(result) : std::move(otherwise);
  }
};

void wait_for(std::span<pollfd> entries, int timeout_ms) {
  while (::poll(entries.data(), entries.size(), timeout_ms) < 0 && errno == EINTR) {
  }
}

std::shared_ptr<Mailbox> submit(runtime::Engine& engine, runtime::Job job) {
  auto mailbox = std::make_shared<Mailbox>();
  engine.submit(std::move(job),
                [mailbox](runtime::JobResult result) { mailbox->put(std::move(result)); });
  return mailbox;
}

runtime::JobResult cancelled_job(const std::string& id) {
  runtime::JobResult cancelled;
  cancelled.id = id;
  cancelled.verdict = {runtime::Outcome::kCancelled, "", runtime::By::kCaller, {}};
  return cancelled;
}

// Returns what the job says of its end, if it does so soon.
runtime::JobResult cancel(runtime::Engine& engine, Mailbox& mailbox, runtime::JobResult cancelled) {
  engine.cancel_all();
  pollfd arrived{mailbox.arrived->get(), POLLIN, 0};
  wait_for({&arrived, 1}, kCancelPatienceMs);
  return mailbox.take_or(std::move(cancelled));
}

runtime::JobResult await(runtime::Engine& engine, Mailbox& mailbox, runtime::JobResult cancelled,
                         const StopSignals* stop) {
  std::array<pollfd, 2> entries{
      {{mailbox.arrived->get(), POLLIN, 0}, {stop ? stop->fd() : -1, POLLIN, 0}}};
  wait_for(entries, -1);
  if (entries[0].revents == 0) return cancel(engine, mailbox, std::move(cancelled));
  return mailbox.take_or(std::move(cancelled));
}

}  // namespace

runtime::JobResult run_one(runtime::Engine& engine, runtime::Job job, const StopSignals* stop) {
  std::vector<runtime::Job> jobs;
  jobs.push_back(std::move(job));
  return std::move(run_all(engine, std::move(jobs), stop).front());
}

std::vector<runtime::JobResult> run_all(runtime::Engine& engine, std::vector<runtime::Job> jobs,
                                        const StopSignals* stop) {
  std::vector<runtime::JobResult> results;
  std::vector<std::shared_ptr<Mailbox>> mailboxes;
  for (runtime::Job& job : jobs) {
    results.push_back(cancelled_job(job.id));
    mailboxes.push_back(submit(engine, std::move(job)));
  }
  for (size_t i = 0; i < mailboxes.size(); ++i)
    results[i] = await(engine, *mailboxes[i], std::move(results[i]), stop);
  return results;
}

runtime::JobResult run_live(runtime::Engine& engine, runtime::Job job, const StopSignals* stop,
                            LiveOutput& output) {
  const Events news = make_events();
  auto made = runtime::LiveIo::create([news] { tell(news); });
  if (!made) return run_one(engine, std::move(job), stop);  // there are few descriptors left
  const std::shared_ptr<runtime::LiveIo> live = *made;
  (void)live->take_writer();  // closed: stdin is the job's own, or empty
  job.live = live;
  runtime::JobResult cancelled = cancelled_job(job.id);
  const std::shared_ptr<Mailbox> mailbox = submit(engine, std::move(job));
  // The loop hears only POLLERR of stdout: its reader is gone.
  std::array<pollfd, 4> entries{{{mailbox->arrived->get(), POLLIN, 0},
                                 {news->get(), POLLIN, 0},
                                 {STDOUT_FILENO, 0, 0},
                                 {stop ? stop->fd() : -1, POLLIN, 0}}};
  for (;;) {
    wait_for(entries, -1);
    if (entries[1].revents != 0) hear(news);
    const runtime::LiveIo::News printed = live->take();
    const bool is_read = output.write(printed.out, printed.err);
    if (entries[0].revents != 0) return mailbox->take_or(std::move(cancelled));
    if (!is_read || (entries[2].revents & POLLERR) != 0) output.lose_reader();
    if (!output.has_reader() || entries[3].revents != 0)
      return cancel(engine, *mailbox, std::move(cancelled));
  }
}

}  // namespace cli
