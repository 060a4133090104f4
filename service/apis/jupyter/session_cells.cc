#include "service/apis/jupyter/session_cells.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <optional>
#include <utility>
#include <variant>

#include "service/apis/results.h"

namespace service::jupyter {

using Refusal = ForeignSessions::Refusal;

// The steps share it, because one of them may end when its kernel has gone.
struct SessionCells::House {
  const Parts parts;
  std::string session = {};  // empty: none has begun
  bool is_over = false;

  ForeignSessions::Caller caller() const {
    ForeignSessions::Caller caller{parts.client, parts.api};
    caller.patience = std::nullopt;  // it waits as long as its client does
    return caller;
  }
};

class SessionCells::Step : public std::enable_shared_from_this<Step> {
 public:
  Step(std::shared_ptr<House> house, CellOrder order, std::shared_ptr<runtime::LiveIo> live)
      : house_(std::move(house)),
        order_(std::move(order)),
        live_(std::move(live)),
        input_(live_->take_writer()) {}

  void start() {
    if (!order_.node.empty()) return run();
    auto told = [self = shared_from_this()](std::variant<ForeignSessions::Begun, Refusal> answer) {
      self->begun(std::move(answer));
    };
    ticket_ = sessions().begin(house_->caller(), house_->parts.beginning, std::move(told));
  }

  // Nobody waits for it any more.
  void leave() {
    has_left_ = true;
    room_.reset();
    live_->leave();
    withdraw();
  }
  void withdraw() { sessions().withdraw(ticket_); }
  void interrupt() {
    live_->signal(SIGINT);
    house_->parts.dispatcher.pass_signals();
  }
  runtime::LiveIo::News take() { return live_->take(); }
  std::optional<CellEnd> end() { return std::exchange(end_, std::nullopt); }
  // A cell that asks again and again, and reads nothing, is ended.
  void give(std::string_view input) {
    constexpr size_t kMostInput = size_t{4} << 20;
    unwritten_ += input;
    write_on();
    if (unwritten_.size() > kMostInput) withdraw();
  }

 private:
  ForeignSessions& sessions() const { return house_->parts.sessions; }

  void begun(std::variant<ForeignSessions::Begun, Refusal> answer) {
    ticket_ = 0;
    if (const auto* no = std::get_if<Refusal>(&answer)) return refuse(*no);
    auto& made = std::get<ForeignSessions::Begun>(answer);
    if (house_->is_over || has_left_) {
      sessions().end(house_->parts.client, made.session);
      return;
    }
    house_->session = std::move(made.session);
    order_.node = std::move(made.node);
    run();
  }

  void run() {
    const auto defaults = sessions().defaults_of(house_->parts.client, order_.node);
    if (!defaults) return refuse({410, "the state of this kernel is gone"});
    ReadStep step;
    step.job = defaults->job;
    step.job.keep = order_.keep;
    step.job.source = std::move(order_.source);
    step.job.policy.refusals = runtime::Refusals::kOverlooked;  // an error for the cell
    step.job.live = live_;
    step.body = "{}";  // the log is for who wants to run it again, which no notebook does
    // Told on another thread; its answer is of no use but to be there.
    auto seen = std::make_shared<std::optional<CellEnd>>();
    auto words = [seen](const runtime::JobResult& result) {
      *seen = end_of(result, why_of(result.verdict));
      return Response{};
    };
    auto told = [self = shared_from_this(),
                 seen](std::variant<ForeignSessions::Ran, Refusal> answer) {
      self->ran(std::move(answer), *seen);
    };
    ticket_ = sessions().run(house_->caller(), order_.node, std::move(step), {std::move(words)},
                             std::move(told));
  }

  void ran(std::variant<ForeignSessions::Ran, Refusal> answer, std::optional<CellEnd>& seen) {
    ticket_ = 0;
    if (const auto* no = std::get_if<Refusal>(&answer)) return refuse(*no);
    auto& done = std::get<ForeignSessions::Ran>(answer);
    CellEnd end = seen ? std::move(*seen) : CellEnd{};
    if (!seen) end.label = end.verdict = done.finished.label;
    end.is_cancelled = end.is_cancelled || done.finished.label == "Cancelled";
    end.node = done.kept ? std::move(done.node) : "";
    end.why_not = std::move(done.why_not);
    tell(std::move(end));
  }

  void refuse(const Refusal& why) {
    CellEnd end;
    end.label = "NotRun";
    end.is_lost = why.status == 404 || why.status == 410;
    end.verdict = "NotRun: " + why.why + (end.is_lost ? "; restart the kernel" : "");
    tell(std::move(end));
  }

  void tell(CellEnd end) {
    end_ = std::move(end);
    if (!has_left_) house_->parts.news();
  }

  void write_on() {
    while (!unwritten_.empty()) {
      const ssize_t n = ::write(input_.get(), unwritten_.data(), unwritten_.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) return await_room();
      if (n < 0) unwritten_.clear();  // nobody reads it any more
      if (n > 0) unwritten_.erase(0, static_cast<size_t>(n));
    }
    if (room_) room_->stop();
  }

  void await_room() {
    if (!room_) room_.emplace(house_->parts.loop, input_.get(), [this] { write_on(); });
    room_->start();
  }

  const std::shared_ptr<House> house_;
  CellOrder order_;
  const std::shared_ptr<runtime::LiveIo> live_;
  const sys::OwnedFd input_;
  std::optional<runtime::Writable> room_;  // for what follows
  std::string unwritten_;
  std::optional<CellEnd> end_;
  ForeignSessions::Ticket ticket_ = 0;
  bool has_left_ = false;
};

class SessionCells::Run : public CellRun {
 public:
  explicit Run(std::shared_ptr<Step> step) : step_(std::move(step)) {}
  ~Run() override { step_->leave(); }
  Run(const Run&) = delete;

  runtime::LiveIo::News take() override { return step_->take(); }
  std::optional<CellEnd> end() override { return step_->end(); }
  void give(std::string_view input) override { step_->give(input); }
  void interrupt() override { step_->interrupt(); }
  void withdraw() override { step_->withdraw(); }

 private:
  const std::shared_ptr<Step> step_;
};

SessionCells::SessionCells(Parts parts)
    : house_(std::make_shared<House>(House{std::move(parts)})) {}

SessionCells::~SessionCells() {
  house_->is_over = true;
  if (!house_->session.empty()) house_->parts.sessions.end(house_->parts.client, house_->session);
}

sys::Result<std::unique_ptr<CellRun>> SessionCells::start(CellOrder order) {
  auto live = TRY(runtime::LiveIo::create(house_->parts.news));
  auto step = std::make_shared<Step>(house_, std::move(order), std::move(live));
  step->start();
  return std::unique_ptr<CellRun>(std::make_unique<Run>(std::move(step)));
}

void SessionCells::forget(const std::string& node) {
  house_->parts.sessions.leave_out(house_->parts.client, node);
}

}  // namespace service::jupyter
