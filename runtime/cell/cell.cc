// A cell from its order to its end; run.cc leads it through its jobs.

#include "runtime/cell/cell.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <span>

#include "runtime/cell/wire_decode.h"
#include "runtime/host/host_pressure.h"
#include "runtime/host/proc.h"
#include "runtime/job/micros.h"
#include "sandbox/sys/file.h"
#include "sandbox/sys/socket.h"
#include "shim/next_step.h"

namespace runtime {

using sandbox::Layer;
using sys::Error;
using sys::OwnedFd;
using sys::Result;

CellShape shape_of(const Job& job, bool may_borrow) {
  return {job.policy.profile, job.limits.disk, job.limits.files,
          job.limits.value,   job.observe,     may_borrow};
}

Cell::Cell(Loop& loop, CellPlan plan, Events events)
    : loop_(loop), plan_(std::move(plan)), events_(std::move(events)) {}

Cell::~Cell() {
  // Pid 1 dies with its namespace; the cgroup is removed afterwards, by its own owner.
  if (pidfd_) kill_by_pidfd(pidfd_.get());
  stop_collecting();
  if (!plan_.scratch) return;
  auto scratch = std::make_shared<Scratch>(std::move(plan_.scratch));  // it goes when it is wiped
  plan_.helpers->run(Helpers::Where::kAnywhere, [scratch = std::move(scratch)] {}, {});
}

Result<std::unique_ptr<Cell>> Cell::order(Loop& loop, const Orders& orders, bool is_ready,
                                          CellPlan plan, Events events) {
  std::unique_ptr<Cell> cell(new Cell(loop, std::move(plan), std::move(events)));
  Cell* self = cell.get();
  TRY(self->make_channels());
  shim::CellOrder order = TRY(self->describe());
  std::vector<int> fds = {self->their_socket_.get(), self->theirs_[0].get(),
                          self->theirs_[1].get(),    self->theirs_[2].get(),
                          self->answer_->fd(),       self->theirs_[3].get()};
  if (order.has_scratch()) {
    fds.insert(fds.end(), {self->plan_.scratch.fd(), self->plan_.ruleset.get()});
  }
  for (int fd : self->cgroup_.join_fds()) fds.push_back(fd);
  TRY(orders(order, fds,
             [weak = std::weak_ptr(self->self_)](const shim::CellBorn& born, OwnedFd pidfd) {
               if (auto alive = weak.lock()) return (*alive)->on_born(born, std::move(pidfd));
               if (pidfd) kill_by_pidfd(pidfd.get());
             }));
  self->their_socket_.reset();
  for (OwnedFd& fd : self->theirs_) fd.reset();
  self->socket_ready_->start();
  // An early order waits for as long as the template takes to start.
  if (is_ready) self->timer_->start(CellLife::kBirthPatience);
  return cell;
}

Result<void> Cell::make_channels() {
  sys::SocketPair socket = TRY(sys::seqpacket_pair());
  socket_ = std::move(socket.ours);
  their_socket_ = std::move(socket.theirs);
  sys::Pipe out = TRY(sys::make_pipe_for_program(sys::PipeFor::kWriting));
  sys::Pipe err = TRY(sys::make_pipe_for_program(sys::PipeFor::kWriting));
  out_ = std::move(out.reader);
  err_ = std::move(err.reader);
  request_ = TRY(RequestMemory::create());
  OwnedFd request = TRY(request_.for_reading());
  const std::string filters = std::string(plan_.filter) += plan_.borrower_filter;
  OwnedFd filter = TRY(sys::sealed_memfd("zygo-filter", filters));
  theirs_ = {std::move(out.writer), std::move(err.writer), std::move(request), std::move(filter)};
  answer_ = std::make_shared<SharedAnswer>(
      TRY(SharedAnswer::create(plan_.shape.value.count + shim::kNextStepRoom)));
  if (plan_.cgroups) {
    cgroup_ =
        TRY(sandbox::CellCgroup::create(*plan_.cgroups, "cell-" + std::to_string(plan_.number)));
  }
  layers_ = plan_.layers;
  for (Layer layer : {Layer::kCgroupMemory, Layer::kCgroupPids, Layer::kCgroupCpu}) {
    layers_ = cgroup_.layers().has(layer) && plan_.layers.has(layer) ? layers_.with(layer)
                                                                     : layers_.without(layer);
  }
  Cell* self = this;
  socket_ready_ = std::make_unique<Readable>(loop_, socket_.get(), [self] { self->on_socket(); });
  out_ready_ = std::make_unique<Readable>(loop_, out_.get(), [self] { self->drain(); });
  err_ready_ = std::make_unique<Readable>(loop_, err_.get(), [self] { self->drain(); });
  timer_ = std::make_unique<LateTimer>(loop_, [self] { self->on_timer(); });
  return {};
}

Result<shim::CellOrder> Cell::describe() const {
  shim::CellOrder order;
  order.cell = plan_.number;
  order.layers = plan_.layers.bits();
  order.init_id = plan_.ids.init;
  order.job_id = plan_.ids.job;
  order.sweeper_id = plan_.ids.sweeper;
  order.inside_uid = plan_.ids.inside.uid;
  order.inside_gid = plan_.ids.inside.gid;
  order.readable_job = plan_.variant.dumpable;
  order.trap_reports = !plan_.variant.masked.empty() || plan_.variant.masked_clone_flags;
  const std::string& scratch = plan_.scratch.path();
  if (scratch.size() >= sizeof order.scratch_path)
    return Error::because("scratch " + scratch + ": the path is too long");
  scratch.copy(order.scratch_path, sizeof order.scratch_path - 1);
  order.scratch_exec = plan_.shape.runs_programs();
  order.makes_code = plan_.variant.makes_code || plan_.shape.runs_programs();
  order.verifies_rollback = plan_.verifies_rollback;
  order.makes_sockets = plan_.shape.profile != sandbox::Profile::kPure;
  order.own_proc = plan_.executes && plan_.layers.has(Layer::kPidNs);
  order.scratch_bytes = plan_.shape.disk.count;
  order.scratch_inodes = plan_.shape.files;
  order.answer_bytes = answer_->bytes();
  order.filter_bytes = static_cast<uint32_t>(plan_.filter.size());
  order.borrower_filter_bytes = static_cast<uint32_t>(plan_.borrower_filter.size());
  order.cgroup_count = static_cast<uint32_t>(cgroup_.join_fds().size());
  if (plan_.moves) order.cpu = static_cast<int32_t>(plan_.cpu);
  return order;
}

void Cell::on_born(const shim::CellBorn& born, OwnedFd pidfd) {
  switch (life_.on_born(born.failure.error == 0 && pidfd)) {
    case CellLife::Birth::kUnwanted:
      if (pidfd) kill_by_pidfd(pidfd.get());
      return;
    case CellLife::Birth::kFailed:
      return lose({born.failure.step, born.failure.error, "the cell was not born", true});
    case CellLife::Birth::kBorn:
      break;
  }
  pidfd_ = std::move(pidfd);
  Cell* self = this;
  exit_ready_ = std::make_unique<Readable>(loop_, pidfd_.get(), [self] { self->on_gone(); });
  exit_ready_->start();
  timer_->start(CellLife::kBirthPatience);
  settle();
}

void Cell::on_socket() {
  std::array<std::byte, kLongestFrame> bytes;
  Result<sys::Received> received = sys::receive_message(socket_.get(), bytes, MSG_DONTWAIT);
  if (!received) {
    const int error = received.error().code();
    if (error == EAGAIN) return;
    if (error == EMSGSIZE && state() == State::kStarting)
      return lose({shim::Step::kCell, EMFILE, "no descriptor was left for what the cell sent"});
    return on_exit();
  }
  const bool hung_up = received->size == 0;
  if (hung_up && life_.waits_for_its_template()) return socket_ready_->stop();
  const auto frame = decode_cell_frame(std::span(bytes).first(received->size), received->fds.size(),
                                       sys::monotonic_now());
  if (!frame) return on_exit();
  if (const auto* done = std::get_if<shim::JobDone>(&*frame)) {
    const bool is_of_last = done->nonce == nonce_;
    if (life_.heeds(is_of_last)) return collect(*done);
    if (life_.is_vacating() && is_of_last) on_vacated(*done);
    return;
  }
  if (const auto* held = std::get_if<shim::JobHeld>(&*frame)) {
    if (life_.heeds(held->nonce == nonce_) && clock_.may_hold()) on_held();
    return;
  }
  if (const auto* tracked = std::get_if<shim::JobTracked>(&*frame)) {
    if (life_.heeds(tracked->nonce == nonce_)) on_tracked(std::move(received->fds));
    return;
  }
  if (const auto* rests = std::get_if<shim::JobRests>(&*frame)) {
    const bool counts = life_.heeds(rests->nonce == nonce_);
    const bool is_over = order_.job && order_.job->is_step() && !clock_.is_doomed();
    if (counts && is_over && clock_.may_hold()) on_rests(*rests);
    return;
  }
  if (!life_.on_ready()) return on_exit();
  on_ready(std::get<shim::CellReady>(*frame), std::move(received->fds));
}

void Cell::on_ready(const shim::CellReady& ready, std::vector<OwnedFd> fds) {
  if (ready.failure.error != 0 || fds.empty()) {
    return lose({ready.failure.step, ready.failure.error, "the cell could not be completed", true});
  }
  root_ = std::move(fds[0]);
  if (ready.has_holder) holder_ = std::move(fds.back());
  plan_.variant.borrows_memory = ready.has_holder;
  borrowed_part_ = BorrowedPart(sys::Bytes{ready.image_bytes});
  if (ready.has_listener) {
    listener_ = std::move(fds[1]);
    (void)sandbox::prepare_listener(listener_.get());
  }
  view_ = {-1,
           root_.get(),
           ready.scratch_device,
           plan_.scratch.path(),
           plan_.shape.profile,
           plan_.ids.owner};
  settle();
}

void Cell::settle() {
  if (!life_.completes()) return;
  view_.init_pid = pid_of_pidfd(pidfd_.get());
  if (view_.init_pid <= 0) return on_exit();
  if (holder_) {
    holder_pid_ = pid_of_pidfd(holder_.get());
    if (holder_pid_ <= 0) return on_exit();
  }
  if (listener_) {
    Cell* self = this;
    listener_ready_ =
        std::make_unique<Readable>(loop_, listener_.get(), [self] { self->on_notice(); });
    listener_ready_->start();
  }
  if (plan_.shape.observe) observer_.emplace(plan_.shape.profile, plan_.variant);
  timer_->stop();
  memory_.open(cgroup_.usage().value_or(sys::Bytes{0}));
  oom_base_ = cgroup_.oom_kills().value_or(0);
  refused_base_ = cgroup_.pids_refused().value_or(0);
  inherited_data_ = data_of(view_.init_pid);
  events_.ready();
}

void Cell::lose(Evidence::Fault fault) {
  const CellLife::Loss loss = life_.lose();
  if (loss == CellLife::Loss::kKnown) return;
  fault_ = std::move(fault);
  stop_watching();
  if (loss == CellLife::Loss::kOfCell) {
    const bool oom = cgroup_.oom_kills().value_or(oom_base_) > oom_base_;
    if (fault_.error == 0 && oom) fault_.error = ENOMEM;
    return events_.dead();
  }
  // The job dies with its cell. If the OOM counter moved, that was the reason and it is the job's
  // limit; otherwise it is our trouble.
  uint64_t kills = cgroup_.oom_kills().value_or(oom_base_) - oom_base_;
  if (kills > 0 && memory_limit_is_far()) {
    kills = 0;
    fault_ = outer_memory_is_full();
  }
  result_.evidence.oom_kills = static_cast<uint32_t>(kills);
  if (kills == 0 && !clock_.is_doomed()) result_.evidence.fault = fault_;
  clock_.end();
  drain();
  result_.evidence.limits = order_.job->limits;
  result_.usage.wall_us = micros(sys::monotonic_now() - clock_.started_at());
  result_.evidence.wall_ms = result_.usage.wall_us / 1000;
  result_.evidence.cpu_ms = result_.usage.cpu_us / 1000;  // as far as it was seen
  finish(false);
}

// By pid 1, which reaps the process and so cannot mean another one.
void Cell::signal(int number) {
  if (!life_.is_running() || clock_.is_doomed()) return;
  shim::JobOrder order;
  order.kind = shim::OrderKind::kSignal;
  order.signal = static_cast<uint32_t>(number);
  (void)sys::send_message(socket_.get(), sys::bytes_of(order));
}

// Its own message about its end is read first, even if the loop has seen the end before it.
void Cell::on_gone() {
  if (state() == State::kStarting) on_socket();
  on_exit();
}

void Cell::on_exit() { lose({shim::Step::kCell, 0, "the cell's first process ended"}); }

void Cell::stop_watching() {
  for (auto* readable :
       {&socket_ready_, &out_ready_, &err_ready_, &listener_ready_, &exit_ready_}) {
    if (*readable) (*readable)->stop();
  }
  timer_->stop();
}

void Cell::end(std::function<void()> gone) {
  life_.end();
  stop_watching();
  // Hung up but not closed: a descriptor lives as long as the handle that watched it, or its number
  // would come back to another cell before that handle is gone.
  ::shutdown(socket_.get(), SHUT_RDWR);
  auto finished = [this, gone = std::move(gone)] {
    if (gone_ready_) gone_ready_->stop();
    timer_->stop();
    gone_ = true;
    gone();
  };
  if (!pidfd_) return finished();
  // With a namespace, the kernel takes everything along. Without, pid 1 sweeps and goes by itself
  // when it sees that we hung up, and is killed only if it takes too long: its sweeper sweeps then.
  if (layers_.has(Layer::kPidNs)) {
    kill_by_pidfd(pidfd_.get());
  } else {
    timer_->start(CellLife::kLeave);
  }
  // Readable once pid 1 has reaped its namespace and is dead itself: then the cgroup can go. A
  // watcher of its own, because this may be running inside the other one's callback.
  gone_ready_ = std::make_unique<Readable>(loop_, pidfd_.get(), std::move(finished));
  gone_ready_->start();
}

}  // namespace runtime
