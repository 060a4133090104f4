#include "tools/cli/kernel/engine_cells.h"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <mutex>
#include <utility>

#include "tools/cli/run/verdict_text.h"

namespace cli {

using runtime::JobResult;
using service::jupyter::CellEnd;
using service::jupyter::CellOrder;
using service::jupyter::CellRun;

// Told by threads of the engine, which may outlive our interest.
struct EngineCells::Events {
  const sys::OwnedFd fd{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};

  void tell() const {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = ::write(fd.get(), &one, sizeof one);
  }
};

class EngineCells::Run : public CellRun {
 private:
  struct Ended {
    std::mutex mutex;
    std::optional<JobResult> result;
  };

 public:
  Run(EngineCells& of, std::shared_ptr<runtime::LiveIo> live)
      : of_(of), live_(std::move(live)), input_(live_->take_writer()) {
    of_.running_ = this;
  }
  ~Run() override {
    live_->leave();
    if (of_.running_ == this) of_.running_ = nullptr;
  }
  Run(const Run&) = delete;

  void submit(runtime::Job job) {
    job.live = live_;
    job.watch = watch_;
    of_.engine_.submit(std::move(job), [ended = ended_, events = of_.events_](JobResult result) {
      std::lock_guard lock(ended->mutex);
      ended->result = std::move(result);
      events->tell();
    });
  }

  runtime::LiveIo::News take() override { return live_->take(); }

  std::optional<CellEnd> end() override {
    std::lock_guard lock(ended_->mutex);
    const std::optional<JobResult> result = std::exchange(ended_->result, std::nullopt);
    if (!result) return std::nullopt;
    return service::jupyter::end_of(*result, verdict_line(*result, Style{}));
  }

  void give(std::string_view input) override {
    unwritten_ += input;
    write_on();
  }

  void interrupt() override {
    live_->signal(SIGINT);
    of_.engine_.pass_signals();
  }

  void withdraw() override {
    watch_->withdrawn = true;
    of_.engine_.cancel_withdrawn();
  }

  int input_fd() const { return unwritten_.empty() ? -1 : input_.get(); }

  void write_on() {
    while (!unwritten_.empty()) {
      const ssize_t n = ::write(input_.get(), unwritten_.data(), unwritten_.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) return;
      if (n < 0) return unwritten_.clear();  // nobody reads it any more
      unwritten_.erase(0, static_cast<size_t>(n));
    }
  }

 private:
  EngineCells& of_;
  const std::shared_ptr<runtime::LiveIo> live_;
  const sys::OwnedFd input_;
  const std::shared_ptr<runtime::JobWatch> watch_ = std::make_shared<runtime::JobWatch>();
  const std::shared_ptr<Ended> ended_ = std::make_shared<Ended>();
  std::string unwritten_;
};

EngineCells::EngineCells(runtime::Engine& engine, runtime::Job common)
    : engine_(engine), common_(std::move(common)), events_(std::make_shared<const Events>()) {}

sys::Result<std::unique_ptr<CellRun>> EngineCells::start(CellOrder order) {
  auto live = TRY(runtime::LiveIo::create([events = events_] { events->tell(); }));
  runtime::Job job = common_;
  job.id = fmt::format("cell-{}", ++jobs_);
  job.source = std::move(order.source);
  job.session = order.node.empty() ? runtime::kNewSession : std::move(order.node);
  job.keep = order.keep;
  auto run = std::make_unique<Run>(*this, std::move(live));
  run->submit(std::move(job));
  return std::unique_ptr<CellRun>(std::move(run));
}

void EngineCells::forget(const std::string& node) { engine_.forget_nodes(common_.tenant, {node}); }

int EngineCells::fd() const { return events_->fd.get(); }

void EngineCells::heed() {
  uint64_t count = 0;
  [[maybe_unused]] const ssize_t n = ::read(fd(), &count, sizeof count);
}

int EngineCells::input_fd() const { return running_ ? running_->input_fd() : -1; }

void EngineCells::write_on() {
  if (running_) running_->write_on();
}

}  // namespace cli
