#include "cluster/router/fleet.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "runtime/builds/artefact.h"
#include "runtime/builds/blobs.h"
#include "runtime/judging/judge.h"
#include "runtime/judging/refused.h"
#include "runtime/remote/held_result.h"
#include "runtime/remote/job_wire.h"
#include "sandbox/requirements.h"

namespace cluster {

using runtime::Job;
using runtime::JobResult;
using runtime::WireWriter;

namespace {

constexpr double kNewest = 0.1;  // weight of a pilot's last word of its speed

std::string key_of(const Job& job) { return job.tenant + '\0' + job.template_name; }

JobResult result_of(const Job& job, const runtime::Evidence& seen) {
  JobResult result;
  result.id = job.id;
  result.tag = job.tag;
  result.verdict = runtime::judge(seen, {});
  return result;
}

JobResult cancelled(const Job& job) {
  runtime::Evidence seen;
  seen.cancelled = true;
  return result_of(job, seen);
}

// Empty: it cannot be read, and the pilot will say that there is no program.
std::string bytes_of(const runtime::Artefact& artefact) {
  std::string bytes(artefact.bytes, '\0');
  size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = ::pread(artefact.program.get(), bytes.data() + have, bytes.size() - have,
                                static_cast<off_t>(have));
    if (got <= 0) return {};
    have += static_cast<size_t>(got);
  }
  return bytes;
}

// No more than the job's result may hold, whatever a pilot sends.
void put(const std::shared_ptr<runtime::LiveIo>& live, runtime::Stream stream,
         std::string_view bytes, uint64_t& told, sys::Bytes most) {
  const std::string_view piece = bytes.substr(0, most.count - std::min(most.count, told));
  told += piece.size();
  live->put(stream, piece);
}

JobResult lost(const Job& job, const std::string& why) {
  runtime::Evidence seen;
  seen.fault = runtime::Evidence::Fault{shim::Step::kPilot, 0, why};
  return result_of(job, seen);
}

}  // namespace

Fleet::Fleet(Options options) : options_(std::move(options)), placement_(options_.seed) {}

Fleet::~Fleet() { close(); }

void Fleet::join(runtime::Loop& loop) {
  loop_ = &loop;
  soon_ = std::make_unique<runtime::Afterwards>(loop, [this] { place_waiting(); });
}

// Nothing of a task may outlive the loop.
void Fleet::close() {
  soon_.reset();
  while (!tasks_.empty()) {
    const TaskId id = tasks_.begin()->first;
    conclude(id, cancelled(tasks_.at(id).job));
  }
  waiting_.clear();
}

Fleet::TaskId Fleet::add(Job job, std::function<void(JobResult)> done) {
  const TaskId id = ++last_task_;
  Task& task = tasks_[id];
  task.key = key_of(job);
  task.job = std::move(job);
  task.done = std::move(done);
  return id;
}

// Pilots have no blobs of ours. False: the job is over, because it names one that is not there.
bool Fleet::fill_in(TaskId id) {
  Job& job = tasks_.at(id).job;
  if (!runtime::names_blobs(job)) return true;
  sys::Result<void> filled = options_.blobs.empty()
                                 ? sys::Error::because("source.blob: this router has no blobs")
                                 : runtime::BlobStore(options_.blobs).of(job.tenant).fill_in(job);
  if (filled) return true;
  conclude(id, runtime::refused(job, filled.error().text()));
  return false;
}

void Fleet::submit(Job job, std::function<void(JobResult)> done) {
  const TaskId id = add(std::move(job), std::move(done));
  if (fill_in(id)) place(id);
}

void Fleet::submit_pair(Job first, std::function<void(JobResult)> first_done, Job second,
                        std::function<void(JobResult)> second_done) {
  const TaskId one = add(std::move(first), std::move(first_done));
  const TaskId other = add(std::move(second), std::move(second_done));
  tasks_.at(one).partner = other;
  tasks_.at(one).is_side = tasks_.at(other).is_side = true;
  tasks_.at(other).partner = one;
  if (fill_in(one) && fill_in(other)) place(one);
}

bool Fleet::can_run(Pilot pilot, const Task& task) const {
  const Hello& hello = members_.at(pilot).hello;
  return std::ranges::binary_search(hello.templates, task.job.template_name) &&
         sandbox::unmet(static_cast<sandbox::Level>(hello.level),
                        sandbox::Layers::from_bits(hello.layers), task.job.policy.require)
             .empty() &&
         (!task.is_side || hello.workers > 1);
}

bool Fleet::somebody_can_run(const Task& task) const {
  return std::ranges::any_of(members_, [&](const auto& each) {
    return !each.second.draining && can_run(each.first, task);
  });
}

// Where nobody can run it, whoever has room says in the engine's own words what is missing.
void Fleet::place(TaskId id) {
  const auto found = tasks_.find(id);
  if (found == tasks_.end() || found->second.is_waiting) return;
  Task& task = found->second;
  if (task.job.is_withdrawn()) return conclude(id, cancelled(task.job));
  const bool anybody = !somebody_can_run(task);
  const auto pilot =
      placement_.choose(task.key, [&](Pilot each) { return anybody || can_run(each, task); });
  if (pilot) return start_at(id, *pilot);
  task.is_waiting = true;
  waiting_.push_back(id);
}

void Fleet::place_waiting() {
  for (size_t left = waiting_.size(); left > 0 && placement_.has_room(); --left) {
    const TaskId id = waiting_.front();
    waiting_.pop_front();
    const auto task = tasks_.find(id);
    if (task == tasks_.end()) continue;
    task->second.is_waiting = false;
    place(id);
  }
}

// Once for all that comes in this turn of the loop.
void Fleet::place_soon() { soon_ ? soon_->start() : place_waiting(); }

void Fleet::start_at(TaskId id, Pilot pilot) {
  const TaskId partner = tasks_.at(id).partner;
  WireWriter out = message(partner != 0 ? Kind::kStartPair : Kind::kStart);
  if (partner != 0) {
    const auto& pairing = tasks_.at(id).job.pairing;
    out(pairing && pairing->is_one_way());
  }
  write_start(id, pilot, out);
  if (partner != 0) write_start(partner, pilot, out);
  send(pilot, out);
  count(pilot);
}

void Fleet::write_start(TaskId id, Pilot pilot, WireWriter& out) {
  Task& task = tasks_.at(id);
  StartHead head{.number = assignments_.assign(id, pilot)};
  std::string program;
  if (task.job.program && task.job.program->program) {
    head.flags |= StartHead::kProgram;
    program = bytes_of(*task.job.program);
  }
  if (task.job.live) head.flags |= StartHead::kLive;
  out(head);
  runtime::write_job(task.job, out);
  if (head.flags & StartHead::kProgram) out(program);
  if (!task.job.live) return;
  const uint64_t number = head.number;
  task.input = std::make_unique<LiveInput>(
      *loop_, task.job.live, [this, pilot, number](std::string_view bytes, bool is_last) {
        WireWriter input = message(Kind::kInput, number);
        input(std::string(bytes), is_last);
        send(pilot, input);
      });
}

void Fleet::send(Pilot pilot, const WireWriter& message) {
  if (const auto link = links_.find(pilot); link != links_.end())
    link->second->send(message.bytes());
}

// Tells placement how many jobs of ours a pilot has now.
void Fleet::count(Pilot pilot) {
  const Placement::Load* known = placement_.find(pilot);
  if (!known) return;
  Placement::Load load = *known;
  load.ours = static_cast<unsigned>(assignments_.size_of(pilot));
  placement_.set(pilot, load);
}

void Fleet::withdraw_at(const std::vector<Assignments::Place>& places) {
  for (const auto& place : places) send(place.pilot, message(Kind::kWithdraw, place.number));
}

// Tells it once; the verdict is a pilot's, which may have ended it before.
void Fleet::withdraw(TaskId id, Task& task) {
  if (!task.job.is_withdrawn() || task.withdrawn) return;
  task.withdrawn = sys::monotonic_now();
  const auto places = assignments_.places_of(id);
  if (places.empty()) return conclude(id, cancelled(task.job));
  withdraw_at(places);
}

void Fleet::cancel_withdrawn() {
  std::vector<TaskId> withdrawn;
  for (const auto& [id, task] : tasks_) {
    if (task.job.is_withdrawn() && !task.withdrawn) withdrawn.push_back(id);
  }
  for (const TaskId id : withdrawn) {
    if (const auto found = tasks_.find(id); found != tasks_.end()) withdraw(id, found->second);
  }
}

// A pilot that stays and does not answer keeps no caller waiting.
void Fleet::forget_withdrawn(sys::Nanoseconds since) {
  std::vector<TaskId> over;
  for (const auto& [id, task] : tasks_) {
    if (task.withdrawn && *task.withdrawn < since) over.push_back(id);
  }
  for (const TaskId id : over) {
    if (tasks_.contains(id)) conclude(id, cancelled(tasks_.at(id).job));
  }
}

void Fleet::cancel_all() {
  for (auto& [id, task] : tasks_) {
    if (task.job.watch) task.job.watch->withdrawn = true;
  }
  cancel_withdrawn();
}

void Fleet::pass_signals() {
  for (auto& [id, task] : tasks_) {
    const int signal = task.job.live ? task.job.live->take_signal() : 0;
    if (signal == 0) continue;
    for (const auto& place : assignments_.places_of(id)) {
      WireWriter out = message(Kind::kSignal, place.number);
      out(static_cast<int32_t>(signal));
      send(place.pilot, out);
    }
  }
}

// The least that any of them has.
runtime::Engine::Standing Fleet::standing() const {
  if (members_.empty()) return options_.before;
  Standing least{sandbox::Level::kFull, sandbox::Layers::all()};
  for (const auto& [pilot, member] : members_) {
    least.level = std::max(least.level, static_cast<sandbox::Level>(member.hello.level));
    least.layers = sandbox::Layers::from_bits(least.layers.bits() & member.hello.layers);
  }
  return least;
}

runtime::Engine::Counts Fleet::counts() const {
  Counts sum;
  for (const auto& [pilot, member] : members_) {
    const Counts& of = member.status.counts;
    sum.cells += of.cells;
    sum.templates += of.templates;
    sum.cells_made += of.cells_made;
    sum.forks += of.forks;
    sum.tenant_templates += of.tenant_templates;
    sum.tenant_templates_dropped += of.tenant_templates_dropped;
    sum.rollback_failures += of.rollback_failures;
  }
  return sum;
}

bool Fleet::has_template(const std::string& name) const {
  return std::ranges::any_of(members_, [&](const auto& each) {
    return std::ranges::binary_search(each.second.hello.templates, name);
  });
}

Fleet::Pilot Fleet::enter(Hello hello, std::string address, PilotLink& link) {
  const Pilot pilot = ++last_pilot_;
  std::ranges::sort(hello.templates);
  Member& member = members_[pilot];
  member.hello = std::move(hello);
  member.address = std::move(address);
  member.since = sys::monotonic_now();
  links_[pilot] = &link;
  placement_.add(pilot, {.workers = member.hello.workers});
  place_waiting();
  if (options_.changed) options_.changed();
  return pilot;
}

void Fleet::leave(Pilot pilot) {
  if (!members_.contains(pilot)) return;
  if (assignments_.size_of(pilot) > 0) ++lost_;
  links_.erase(pilot);
  members_.erase(pilot);
  placement_.remove(pilot);
  recover(assignments_.lost(pilot));
  if (options_.changed) options_.changed();
}

void Fleet::set_lapsed(Pilot pilot, bool lapsed) {
  Member& member = members_.at(pilot);
  if (std::exchange(member.lapsed, lapsed) == lapsed) return;
  Placement::Load load = *placement_.find(pilot);
  load.closed = lapsed || member.draining;
  placement_.set(pilot, load);
  if (lapsed) {
    ++lost_;
    recover(assignments_.lapsed(pilot));
  } else {
    place_waiting();
  }
  if (options_.changed) options_.changed();
}

void Fleet::set_draining(Pilot pilot) {
  Member& member = members_.at(pilot);
  member.draining = true;
  Placement::Load load = *placement_.find(pilot);
  load.closed = true;
  placement_.set(pilot, load);
  if (options_.changed) options_.changed();
}

void Fleet::set_status(Pilot pilot, const Status& status) {
  members_.at(pilot).status = status;
  Placement::Load load = *placement_.find(pilot);
  const auto ours = static_cast<unsigned>(assignments_.size_of(pilot));
  load.full = false;
  load.elsewhere = status.under_way > ours ? status.under_way - ours : 0;
  if (status.mean_us > 0) {
    load.mean_us = load.mean_us > 0 ? load.mean_us + kNewest * (status.mean_us - load.mean_us)
                                    : status.mean_us;
  }
  placement_.set(pilot, load);
  place_soon();
}

// A live job whose caller has seen something of it cannot begin again.
void Fleet::recover(const Assignments::Lost& lost_jobs) {
  for (const TaskId id : lost_jobs.given_up)
    give_up(id, fmt::format("its pilot was lost {} times", Assignments::kMostLosses));
  for (const TaskId id : lost_jobs.again) {
    const auto found = tasks_.find(id);
    if (found == tasks_.end()) continue;  // its partner's end has ended it
    Task& task = found->second;
    // Two starts of it would speak to one caller.
    if (task.job.live) {
      const auto places = assignments_.drop(id);
      withdraw_at(places);
      for (const auto& place : places) count(place.pilot);
    }
    if (task.in_conversation()) {
      give_up(id, "its pilot was lost in the middle of a conversation");
    } else if (task.is_side) {
      give_up(id, "its pilot was lost under a conversation");
    } else {
      task.input.reset();
      task.withdrawn.reset();
      place(id);
    }
  }
}

void Fleet::give_up(TaskId id, const std::string& why) {
  const auto found = tasks_.find(id);
  if (found == tasks_.end()) return;
  const bool withdrawn = found->second.job.is_withdrawn();
  JobResult result = withdrawn ? cancelled(found->second.job) : lost(found->second.job, why);
  withdraw_at(assignments_.places_of(id));
  conclude(id, std::move(result));
}

void Fleet::conclude(TaskId id, JobResult result) {
  std::vector<Pilot> pilots;
  for (const auto& place : assignments_.drop(id)) pilots.push_back(place.pilot);
  for (const Pilot pilot : pilots) count(pilot);
  auto ended = tasks_.extract(id);
  Task& task = ended.mapped();
  task.input.reset();
  if (task.job.watch) runtime::hold(result, task.job.watch->held);
  task.done(std::move(result));
  const auto partner = tasks_.find(task.partner);
  if (partner == tasks_.end()) return;
  partner->second.partner = 0;
  if (assignments_.places_of(task.partner).empty())
    give_up(task.partner, "the other side of its conversation has ended before it");
}

bool Fleet::is_of(Pilot pilot, uint64_t number) const {
  return assignments_.pilot_of(number) == pilot;
}

void Fleet::began(Pilot pilot, uint64_t number) {
  if (!is_of(pilot, number)) return;
  const auto id = assignments_.began(number);
  if (!id) return;
  const Task& task = tasks_.at(*id);
  if (task.job.watch && !task.job.watch->started) task.job.watch->begin();
}

Fleet::Task* Fleet::live_task(Pilot pilot, uint64_t number) {
  const auto id = is_of(pilot, number) ? assignments_.task_of(number) : std::nullopt;
  if (!id) return nullptr;
  Task& task = tasks_.at(*id);
  return task.job.live ? &task : nullptr;
}

void Fleet::news(Pilot pilot, uint64_t number, runtime::LiveIo::Stage stage, std::string_view out,
                 std::string_view err) {
  Task* const task = live_task(pilot, number);
  if (!task) return;
  task->has_spoken = task->has_spoken || stage != runtime::LiveIo::Stage::kWaiting;
  task->job.live->begin(stage);
  const runtime::Limits& limits = task->job.limits;
  put(task->job.live, runtime::Stream::kStdout, out, task->out, limits.out);
  put(task->job.live, runtime::Stream::kStderr, err, task->err, limits.err);
}

void Fleet::taken(Pilot pilot, uint64_t number, uint64_t bytes) {
  Task* const task = live_task(pilot, number);
  if (task && task->input) task->input->taken(bytes);
}

void Fleet::result(Pilot pilot, uint64_t number, bool started, JobResult result) {
  if (assignments_.pilot_of(number).value_or(pilot) != pilot) return;  // it was never given this
  std::vector<Assignments::Place> others;
  const auto id = assignments_.ended(number, others);
  count(pilot);
  if (!id) return place_soon();
  withdraw_at(others);
  for (const auto& place : others) count(place.pilot);
  ++members_.at(pilot).ended;
  const Task& task = tasks_.at(*id);
  placement_.warm(pilot, task.key);
  if (started && task.job.watch) task.job.watch->started = true;
  result.id = task.job.id;  // whatever it says
  result.tag = task.job.tag;
  if (!task.job.record) result.record.reset();
  if (result.record) result.record->job = task.job.recorded;
  conclude(*id, std::move(result));
  place_soon();
}

void Fleet::returned(Pilot pilot, uint64_t number) {
  if (!is_of(pilot, number)) return;
  const auto id = assignments_.returned(number);
  Placement::Load load = *placement_.find(pilot);
  load.ours = static_cast<unsigned>(assignments_.size_of(pilot));
  load.full = true;  // until it says again how it stands
  placement_.set(pilot, load);
  if (!id) return;
  Task& task = tasks_.at(*id);
  if (task.in_conversation())
    return give_up(*id, "its pilot has left in the middle of a conversation");
  task.input.reset();
  task.withdrawn.reset();
  if (!task.is_side) return place(*id);
  if (task.partner == 0) return give_up(*id, "its pilot has given one side of a conversation back");
  if (assignments_.places_of(task.partner).empty()) place(std::min(*id, task.partner));
}

}  // namespace cluster
