// Tasks that wait for a template, and what becomes of them with it.
//
// A template that starts forks one cell before it makes its heap image, which takes longer than
// most programs. That early cell serves what waits until the image is there. A tenant starts one
// template after another, because starting one costs some 100 ms of CPU: what else it wants waits.
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

namespace {

// One kill may be heard of twice, of a cell and of its template.
constexpr unsigned kStartsToLose = 2;

}  // namespace

TemplateKey Scheduler::key_for(const Task& task) const {
  return {catalogue_.find_template(task.job.template_name)->name, task.run, task.job.tenant};
}

// True: the task was taken, until another template of its tenant has started.
bool Scheduler::waits_for_start(const TemplateKey& key, TaskPtr& task) {
  if (key.tenant.empty() || templates_.find(key)) return false;
  TemplateSlot* starting = templates_.starting_of(key.tenant);
  if (!starting) return false;
  starting->waiting.push_back(std::move(task));
  return true;
}

void Scheduler::on_zygote(const TemplateKey& key) {
  TemplateSlot* found = templates_.find(key);
  if (!found) return;  // given back
  TemplateSlot& slot = *found;
  if (slot.successor) templates_.adopt_successor(key, slot);
  if (slot.zygote->state() == TemplateHandle::State::kStarting)
    return;  // the successor of the one that spoke
  if (slot.zygote->state() == TemplateHandle::State::kReady) templates_.bury_outdated(key);
  const bool failed = slot.zygote->state() == TemplateHandle::State::kFailed;
  const bool killed = failed && slot.zygote->was_killed();
  const Evidence::Fault fault =
      failed ? shortage_.cause_of(slot.zygote->fault()) : Evidence::Fault{};
  std::vector<TaskPtr> waiting = std::exchange(slot.waiting, {});
  for (TaskPtr& task : waiting) {
    const bool is_others = key_for(*task) != key;  // of the same tenant: it waited for its start
    const bool again = is_others || (killed && may_start_again(*task, fault));
    if (failed && !again) {
      shortage_.fail_or_wait(std::move(task), fault);
    } else {
      place(std::move(task));
    }
  }
}

// What the early cell has no time for waits for the image.
void Scheduler::lease_early(TaskPtr task, const TemplateKey& key, const TemplateSpec& spec,
                            TemplateSlot& zygote) {
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
void Scheduler::serve_waiting(const TemplateKey& key) {
  TemplateSlot* found = templates_.find(key);
  if (!found || found->zygote->state() != TemplateHandle::State::kStarting) return;
  std::vector<TaskPtr>& waiting = found->waiting;
  if (waiting.empty()) return;
  TaskPtr next = std::move(waiting.front());
  waiting.erase(waiting.begin());
  place(std::move(next));
}

// On the next turn: it waits for what becomes of the template, or of the next one.
void Scheduler::place_again(const TemplateKey& key, TaskPtr task) {
  templates_.find(key)->waiting.push_back(std::move(task));  // kept while anything is leased
  templates_.note_change(key);
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

}  // namespace runtime
