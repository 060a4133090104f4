// Templates from start to renewal.
//
// A template that starts forks one cell before it makes its heap image, which takes longer than
// most programs. That early cell serves what waits until the image is there.
//
// All cells of one template process share its address layout, so what one job learns of it, by a
// pointer printed or a value returned, the next can use. A template therefore serves for so many
// cells or so long, and is then replaced by one that was executed anew, with another layout; its
// cells end with their jobs. Nobody waits: the successor starts beside it.
//
// A template or a cell that is killed takes along the jobs that run in it. A task that had not
// begun is placed again, and answered only when it has lost too many. The rule is the same for all
// who had not begun, because who came before the kill cannot be told: the death of a cell is often
// heard of before that of its template, whose socket children of its own may keep open.

#include <algorithm>
#include <cerrno>

#include "runtime/scheduler/scheduler.h"

namespace runtime {

using shim::Step;
using sys::Result;

namespace {

constexpr uint64_t kCellsPerTemplate = 200;
constexpr std::chrono::hours kTemplateAge{1};
// One kill may be heard of twice, of a cell and of its template.
constexpr unsigned kStartsToLose = 2;

}  // namespace

Result<std::unique_ptr<TemplateHandle>> Scheduler::start_zygote(const ZygoteKey& key,
                                                                const TemplateSpec& spec) {
  // Called from inside the zygote, which acting on it may drop: that waits for the next turn.
  auto changed = [this, key] {
    changed_zygotes_.push_back(key);
    wake();
  };
  return machine_.start_template(spec, key.seed, std::move(changed));
}

Scheduler::ZygoteSlot* Scheduler::zygote_for(const TemplateSpec& spec, const ZygoteKey& key,
                                             Evidence::Fault& problem) {
  auto found = zygotes_.find(key);
  if (found != zygotes_.end()) found->second.used = machine_.now();
  if (found != zygotes_.end() && found->second.zygote->state() != TemplateHandle::State::kFailed)
    return &found->second;
  if (found == zygotes_.end()) make_room_for(key);
  Result<std::unique_ptr<TemplateHandle>> started = start_zygote(key, spec);
  if (!started) {
    problem = {Step::kStartTemplate, started.error().code(), started.error().text()};
    return nullptr;
  }
  ZygoteSlot& slot = zygotes_[key];  // what waits for one that failed waits for this one
  slot.zygote = std::move(started).value();
  slot.early_cell = false;
  slot.cells = 0;
  slot.used = slot.since = machine_.now();
  count_templates();
  return &slot;
}

void Scheduler::on_zygotes_changed() {
  for (const ZygoteKey& key : std::exchange(changed_zygotes_, {})) on_zygote(key);
}

void Scheduler::on_zygote(const ZygoteKey& key) {
  auto found = zygotes_.find(key);
  if (found == zygotes_.end()) return;  // given back
  ZygoteSlot& slot = found->second;
  if (slot.successor) adopt_successor(key, slot);
  if (slot.zygote->state() == TemplateHandle::State::kStarting)
    return;  // the successor of the one that spoke
  if (slot.zygote->state() == TemplateHandle::State::kReady) bury_outdated(key);
  const bool failed = slot.zygote->state() == TemplateHandle::State::kFailed;
  const bool killed = failed && slot.zygote->was_killed();
  const Evidence::Fault fault = failed ? cause_of(slot.zygote->fault()) : Evidence::Fault{};
  std::vector<TaskPtr> waiting = std::exchange(slot.waiting, {});
  for (TaskPtr& task : waiting) {
    const bool is_others = key_for(*task) != key;  // of the same tenant: it waited for its start
    const bool again = is_others || (killed && may_start_again(*task, fault));
    if (failed && !again) {
      fail_or_wait(std::move(task), fault);
    } else {
      place(std::move(task));
    }
  }
}

// What the early cell has no time for waits for the image.
void Scheduler::lease_early(TaskPtr task, const ZygoteKey& key, const TemplateSpec& spec,
                            ZygoteSlot& zygote) {
  if (cells_.find_idle(key, zygote.zygote.get(), shape_of(task->current())) != cells_.none())
    return lease(std::move(task), key, zygote);
  if (catalogue_.has_early_cells(spec) && !zygote.early_cell) {
    zygote.early_cell = true;
    make_room_for_cell();
    if (order_cell(task, key, zygote).ok()) return;
  }
  zygote.waiting.push_back(std::move(task));
}

// By the early cell that has become idle: it came before what is in the queue.
void Scheduler::serve_waiting(const ZygoteKey& key) {
  auto found = zygotes_.find(key);
  if (found == zygotes_.end() || found->second.zygote->state() != TemplateHandle::State::kStarting)
    return;
  std::vector<TaskPtr>& waiting = found->second.waiting;
  if (waiting.empty()) return;
  TaskPtr next = std::move(waiting.front());
  waiting.erase(waiting.begin());
  place(std::move(next));
}

// On the next turn: it waits for what becomes of the template, or of the next one.
void Scheduler::place_again(const ZygoteKey& key, TaskPtr task) {
  zygotes_.at(key).waiting.push_back(std::move(task));  // kept while anything is leased
  changed_zygotes_.push_back(key);
  wake();
}

// Who was killed said nothing, or somebody else that it was no longer there; another may well live.
bool Scheduler::may_start_again(Task& task, const Evidence::Fault& fault) {
  const bool was_killed = fault.error == 0 || fault.error == ESRCH || fault.error == ECHILD;
  return was_killed && task.starts_lost++ < kStartsToLose;
}

// Its cell was dead, and we had not heard.
bool Scheduler::was_not_sent(const Evidence::Fault& fault) {
  return fault.step == Step::kSendOrder && (fault.error == EPIPE || fault.error == ECONNRESET);
}

bool Scheduler::has_lost_template(const CellSlot& slot) const {
  auto found = zygotes_.find(slot.zygote);
  const bool is_current = found != zygotes_.end() && found->second.zygote.get() == slot.parent;
  if (is_current) {
    const TemplateHandle::State state = slot.parent->state();
    return state == TemplateHandle::State::kRefused || state == TemplateHandle::State::kFailed;
  }
  return std::none_of(retired_.begin(), retired_.end(),
                      [&slot](const auto& zygote) { return zygote.get() == slot.parent; });
}

void Scheduler::renew_if_due(const ZygoteKey& key, ZygoteSlot& slot) {
  const bool due = slot.cells >= kCellsPerTemplate ||
                   machine_.now() - slot.since >= sys::Nanoseconds(kTemplateAge);
  if (!due || slot.successor || stopping_) return;
  const TemplateSpec* spec = catalogue_.find_template(key.name);
  if (!spec) return;
  auto started = start_zygote(key, *spec);
  if (started.ok()) slot.successor = std::move(started).value();  // else at the next cell
}

// Called on every change of either; a successor that fails is tried again when it is due again.
void Scheduler::adopt_successor(const ZygoteKey& key, ZygoteSlot& slot) {
  if (slot.successor->state() == TemplateHandle::State::kStarting) return;
  const bool ready = slot.successor->state() == TemplateHandle::State::kReady;
  if (ready) {
    retired_.push_back(std::move(slot.zygote));
    slot.zygote = std::move(slot.successor);
  }
  slot.successor.reset();
  slot.cells = 0;
  slot.since = machine_.now();
  if (ready) bury_outdated(key);
}

void Scheduler::bury_outdated(const ZygoteKey& key) {
  cells_.bury_if([this, &key](const CellSlot& slot) {
    return slot.is_idle() && slot.zygote == key && is_outdated(slot);
  });
}

// Of a template that is no longer there, or has its image now.
bool Scheduler::is_outdated(const CellSlot& slot) const {
  auto found = zygotes_.find(slot.zygote);
  if (found == zygotes_.end()) return false;
  const TemplateHandle& current = *found->second.zygote;
  return &current != slot.parent ||
         (slot.early && current.state() == TemplateHandle::State::kReady);
}

// Where cells live in a template's pid namespace they die with it, so it goes last.
void Scheduler::drop_retired() {
  std::erase_if(retired_, [this](const std::unique_ptr<TemplateHandle>& zygote) {
    return !zygote->is_ending() && !cells_.has_cell_of(zygote.get());
  });
}

}  // namespace runtime
