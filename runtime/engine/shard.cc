#include "runtime/engine/shard.h"

#include <sched.h>

#include <future>

#include "runtime/builds/artefact.h"
#include "runtime/cell/stdin_feed.h"
#include "runtime/cell/zygote.h"
#include "runtime/job/live_io.h"
#include "sandbox/sys/thread.h"

namespace runtime {

using sys::Result;

static_assert(Machine::kShort == Helpers::kShort);

namespace {

// Children inherit the CPU: a wake-up between daemon, cell and job then stays on it.
void pin_to(unsigned cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  (void)::sched_setaffinity(0, sizeof set, &set);
}

}  // namespace

Shard::Shard(HostConfig& config, AdmissionQueue& admission, Capacity& capacity, unsigned cpu,
             SchedulerPlan plan)
    : config_(config),
      cpu_(cpu),
      capacity_(plan.capacity),
      scheduler_(*this, config, admission, capacity, plan) {}

Shard::~Shard() { join(); }

Result<void> Shard::start(sys::Milliseconds patience) {
  std::promise<Result<void>> started;
  auto work = [this, &started, patience] {
    pin_to(cpu_);
    loop_ = std::make_unique<Loop>();
    wakeup_ = std::make_unique<Wakeup>(*loop_, [this] { scheduler_.turn(); });
    mailbox_ = std::make_unique<Mailbox>(*loop_);
    terminator_ = std::make_unique<Terminator>(*loop_);
    ask_again_ = std::make_unique<Timer>(*loop_, [this] { scheduler_.turn(); });
    vacate_again_ = std::make_unique<Timer>(*loop_, [this] { scheduler_.vacate_idle(); });
    stand_by_again_ = std::make_unique<Timer>(*loop_, [this] { scheduler_.stand_by(); });
    age_again_ = std::make_unique<Timer>(*loop_, [this] { scheduler_.drop_aged(); });
    Result<std::unique_ptr<Helpers>> helpers = Helpers::start(*loop_, capacity_ + 1, patience);
    if (!helpers) return started.set_value(std::move(helpers).error());
    helpers_ = std::move(helpers).value();
    started.set_value({});
    carry();
  };
  thread_ = TRY(sys::start_thread(work, patience));
  return started.get_future().get();
}

void Shard::join() {
  if (thread_.joinable()) thread_.join();
}

// Everything with a handle goes before the loop does. The wake-up itself and the loop stay: others
// may be in the middle of waking this shard.
void Shard::carry() {
  loop_->run();
  ask_again_.reset();
  age_again_.reset();
  vacate_again_.reset();
  stand_by_again_.reset();
  scheduler_.end_all();
  mailbox_.reset();
  helpers_.reset();
  terminator_.reset();
}

sys::Nanoseconds Shard::now() const { return sys::monotonic_now(); }
void Shard::wake() { wakeup_->wake(); }
void Shard::ask_again(sys::Nanoseconds delay) { ask_again_->start(delay); }
void Shard::vacate_again(sys::Nanoseconds delay) { vacate_again_->start(delay); }
void Shard::stand_by_again(sys::Nanoseconds delay) { stand_by_again_->start(delay); }
void Shard::age_again(sys::Nanoseconds delay) { age_again_->start(delay); }
void Shard::finished() { loop_->stop(); }
uint64_t Shard::oom_kills() const { return config_.own_oom_kills(); }

Result<std::unique_ptr<TemplateHandle>> Shard::start_template(const TemplateSpec& spec,
                                                              TemplateVariant variant,
                                                              std::function<void()> changed) {
  return std::unique_ptr<TemplateHandle>(
      TRY(Zygote::start(*loop_, config_.zygote_plan(spec, variant), std::move(changed))));
}

Result<std::unique_ptr<CellHandle>> Shard::order_cell(TemplateHandle& parent,
                                                      const TemplateSpec& spec,
                                                      const CellShape& shape, CellEvents events) {
  const auto& zygote = static_cast<Zygote&>(parent);  // start_template() makes no others
  TemplateLine& line = zygote.line();
  const auto orders = [&line](const shim::CellOrder& order, const std::vector<int>& fds,
                              TemplateLine::Born born) {
    return line.order(order, fds, std::move(born));
  };
  CellPlan plan = TRY(plan_cell(spec, shape, line.runs_in_place()));
  const bool is_ready = zygote.state() == Zygote::State::kReady;
  return std::unique_ptr<CellHandle>(
      TRY(Cell::order(*loop_, orders, is_ready, std::move(plan), std::move(events))));
}

// The answers come on the thread of the template's owner.
Result<std::unique_ptr<CellHandle>> Shard::order_cell_of(Incarnation& of, const TemplateSpec& spec,
                                                         const CellShape& shape,
                                                         CellEvents events) {
  auto& line = static_cast<TemplateLine&>(of);  // there are no others
  const auto orders = [this, &line](const shim::CellOrder& order, const std::vector<int>& fds,
                                    TemplateLine::Born born) {
    auto pass_on = [slot = mailbox_->slot(), born = std::move(born)](const shim::CellBorn& answer,
                                                                     sys::OwnedFd pidfd) {
      auto held = std::make_shared<sys::OwnedFd>(std::move(pidfd));
      slot->post([born, answer, held] { born(answer, std::move(*held)); });
    };
    return line.order(order, fds, std::move(pass_on));
  };
  CellPlan plan = TRY(plan_cell(spec, shape, line.runs_in_place()));
  plan.moves = true;
  return std::unique_ptr<CellHandle>(
      TRY(Cell::order(*loop_, orders, true, std::move(plan), std::move(events))));
}

Result<CellPlan> Shard::plan_cell(const TemplateSpec& spec, const CellShape& shape, bool in_place) {
  const bool makes_code = config_.makes_code(spec);
  CellPlan plan;
  plan.number = config_.next_cell_number();
  plan.shape = shape;
  plan.executes = spec.runtime != nullptr;
  plan.in_place = in_place;
  plan.layers = config_.layers();
  // What a template of an interpreter that could not become a zygote runs, it executes.
  const bool in_its_process = !spec.runtime || in_place;
  const bool borrows = in_its_process && config_.borrows_memory(spec, shape);
  plan.filter = TRY(shape.observe ? config_.observer_filter()
                                  : config_.filter(shape.profile, makes_code, false));
  if (borrows) plan.borrower_filter = TRY(config_.filter(shape.profile, makes_code, true));
  plan.variant = config_.filter_variant();
  plan.variant.makes_code = makes_code;
  plan.most_pipes = PipeCount::most_of(config_.jobs_at_once());
  plan.verifies_rollback = config_.verifies_rollback();
  plan.rollback_failed = [record = &config_.rollbacks(), name = spec.name] {
    record->count_failure(name, sys::monotonic_now());
  };
  plan.holder_refused = [record = &config_.rollbacks(), name = spec.name] {
    record->pause(name, sys::monotonic_now());
  };
  plan.cgroups = config_.cgroups();
  plan.outer_oom = config_.outer_oom();
  plan.terminator = terminator_.get();
  plan.helpers = helpers_.get();
  plan.crowd = &crowd_;
  plan.trouble = &config_.trouble();
  plan.cpu = cpu_;
  plan.ids = TRY(config_.take_ids());
  if (config_.has_directories()) {
    plan.scratch = TRY(config_.make_scratch(plan.number, plan.ids));
    plan.ruleset = TRY(config_.make_ruleset(plan.scratch, shape.runs_programs()));
  }
  return plan;
}

Result<void> Shard::open_input(Task& task) {
  task.input.reset();
  task.stdin_fd = -1;
  const Job& job = task.job;
  if (task.build) return {};
  if (job.pairing && job.pairing->stdin_of(job.side) >= 0) {
    task.stdin_fd = job.pairing->stdin_of(job.side);
    return {};
  }
  if (job.live && job.stdin_fd < 0) {
    task.stdin_fd = job.live->reader();
    return {};
  }
  if (job.stdin_fd >= 0) {
    task.input = TRY(StdinFeed::from_descriptor(job.stdin_fd));
  } else if (!job.stdin_bytes.empty()) {
    task.input = TRY(StdinFeed::from_bytes(*loop_, job.stdin_bytes));
  }
  if (task.input) task.stdin_fd = task.input->reader();
  return {};
}

void Shard::run(CellHandle& handle, Task& task) {
  auto& cell = static_cast<Cell&>(handle);  // order_cell() makes no others
  const Job& job = task.current();
  RunOrder order{task.request, &job, task.stdin_fd};
  order.live = job.live.get();
  order.runtime = config_.find_template(job.template_name)->runtime.get();
  if (task.language) order.runtime = task.language;
  const std::shared_ptr<const Artefact>& executed = job.program ? job.program : task.artefact;
  if (!task.build && executed) order.program_fd = executed->program.get();
  order.in_place = task.in_place;
  order.comes_first = job.pairing != nullptr;
  if (job.is_step()) order.room = scheduler_.room_for_node(task);
  order.state = task.state;
  order.stands_by = task.stands_by;
  order.may_stay = task.may_stay && job.is_step() && job.keep && !job.live && !job.pairing &&
                   !job.fixed.on && task.stdin_fd < 0;
  sys::OwnedFd own_stderr;
  if (!task.build && job.pairing) {
    own_stderr = job.pairing->stderr_of(job.side, cell.stderr_pipe());
    order.stdout_fd = job.pairing->stdout_of(job.side);
    order.stderr_fd = own_stderr.get();
  }
  if (job.execution) order.stdout_fd = job.execution->stdout_fd;
  cell.run(order);
}

void Shard::aside(std::function<void()> work, std::function<void()> done) {
  helpers_->run(Helpers::Where::kAnywhere, std::move(work), std::move(done));
}

}  // namespace runtime
