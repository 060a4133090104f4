#include "cluster/router/fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cluster/router/start_message.h"
#include "runtime/builds/blobs.h"
#include "runtime/judging/judge.h"
#include "runtime/judging/refused.h"
#include "runtime/remote/held_result.h"

namespace cluster {

using runtime::Job;
using runtime::JobResult;
using runtime::WireWriter;

namespace {

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

Fleet::Fleet(Options options) : options_(std::move(options)), members_(options_.seed) {}

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
  if (job.is_step())
    return done(runtime::refused(
        job, "session: a router has none; sessions stay with the service that began them"));
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

void Fleet::place(TaskId id) {
  const auto found = tasks_.find(id);
  if (found == tasks_.end() || found->second.is_waiting) return;
  Task& task = found->second;
  if (task.job.is_withdrawn()) return conclude(id, cancelled(task.job));
  if (const auto pilot = members_.choose(task.key, task.job, task.is_side))
    return start_at(id, *pilot);
  task.is_waiting = true;
  waiting_.push_back(id);
}

void Fleet::place_waiting() {
  for (size_t left = waiting_.size(); left > 0 && members_.has_room(); --left) {
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
  assign(id, pilot, out);
  if (partner != 0) assign(partner, pilot, out);
  send(pilot, out);
  count(pilot);
}

void Fleet::assign(TaskId id, Pilot pilot, WireWriter& out) {
  Task& task = tasks_.at(id);
  const uint64_t number = assignments_.assign(id, pilot);
  write_start(number, task.job, members_.version_of(pilot), out);
  if (!task.job.live) return;
  task.input = std::make_unique<LiveInput>(
      *loop_, task.job.live, [this, pilot, number](std::string_view bytes, bool is_last) {
        WireWriter input = message(Kind::kInput, number);
        input(std::string(bytes), is_last);
        send(pilot, input);
      });
}

void Fleet::send(Pilot pilot, const WireWriter& message) { members_.send(pilot, message.bytes()); }

void Fleet::count(Pilot pilot) { members_.count(pilot, assignments_.size_of(pilot)); }

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

runtime::Engine::Standing Fleet::standing() const {
  return members_.all().empty() ? options_.before : members_.standing();
}

void Fleet::tell_change() {
  if (options_.changed) options_.changed();
}

Fleet::Pilot Fleet::enter(Hello hello, std::string address, PilotLink& link) {
  const Pilot pilot = members_.enter(std::move(hello), std::move(address), link);
  place_waiting();
  tell_change();
  return pilot;
}

void Fleet::leave(Pilot pilot) {
  if (!members_.contains(pilot)) return;
  if (assignments_.size_of(pilot) > 0) ++lost_;
  members_.leave(pilot);
  recover(assignments_.lost(pilot));
  tell_change();
}

void Fleet::set_lapsed(Pilot pilot, bool lapsed) {
  if (!members_.set_lapsed(pilot, lapsed)) return;
  if (lapsed) {
    ++lost_;
    recover(assignments_.lapsed(pilot));
  } else {
    place_waiting();
  }
  tell_change();
}

void Fleet::set_draining(Pilot pilot) {
  members_.set_draining(pilot);
  tell_change();
}

void Fleet::set_status(Pilot pilot, const Status& status) {
  members_.set_status(pilot, status, assignments_.size_of(pilot));
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
  const Task& task = tasks_.at(*id);
  members_.add_verdict(pilot, task.key);
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
  members_.fill(pilot, assignments_.size_of(pilot));
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
