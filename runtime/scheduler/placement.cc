#include "runtime/scheduler/placement.h"

#include <cerrno>

#include "runtime/scheduler/preparation.h"

namespace runtime {

using shim::Step;
using sys::Result;

namespace {

// One kill may be heard of twice, of a cell and of its template.
constexpr unsigned kStartsToLose = 2;

// A job that would have real time and chance without a word.
std::string objection_to_fixed_mode(const Catalogue& catalogue, const TemplateSpec& spec,
                                    const Job& job) {
  if (!job.fixed.on) return "";
  const bool starts = spec.runtime || job.policy.profile >= sandbox::Profile::kSubprocess;
  const std::string why = catalogue.objection_to_fixed_mode(starts);
  return why.empty() ? "" : "this host does not give fixed mode: " + why;
}

}  // namespace

void Placement::place(TaskPtr task) {
  if (requests_.is_stopping() || task->job.is_withdrawn())
    return replies_.withdraw_leased(std::move(task));
  const TemplateSpec* spec = catalogue_.find_template(task->job.template_name);
  if (!spec) {
    const std::string message = "template: \"" + task->job.template_name +
                                "\" is not known; known are " + catalogue_.template_names() +
                                " (define one with --preload)";
    return replies_.refuse(std::move(task), message);
  }
  if (std::string missing = catalogue_.unmet(task->job.policy.require); !missing.empty()) {
    return replies_.fail(
        std::move(task),
        {Step::kRequire, 0, "this host does not give " + missing + ", which the job insists on"});
  }
  if (std::string wrong = objection_to(catalogue_, *spec, task->job); !wrong.empty())
    return replies_.refuse(std::move(task), wrong);
  if (std::string why = objection_to_fixed_mode(catalogue_, *spec, task->job); !why.empty())
    return replies_.fail(std::move(task), {Step::kRequire, 0, why});
  if (!prepare(task, *spec) || !loads_.obtain(task)) return;
  const TemplateKey key = key_for(*task);
  if (task->job.node) return lease_at_node(std::move(task), key);
  if (waits_for_start(key, task)) return;
  Evidence::Fault problem;
  TemplateSlot* zygote = templates_.obtain(*spec, key, problem);
  if (!zygote) return shortage_.fail_or_wait(std::move(task), problem);
  switch (zygote->zygote->state()) {
    case TemplateHandle::State::kStarting:
      return lease_early(std::move(task), key, *spec, *zygote);
    case TemplateHandle::State::kReady:
      return lease(std::move(task), key, *zygote);
    case TemplateHandle::State::kRefused:
      return replies_.refuse(std::move(task),
                             "template " + spec->name + ": " + zygote->zygote->reason());
    case TemplateHandle::State::kFailed:
      return shortage_.fail_or_wait(std::move(task), shortage_.cause_of(zygote->zygote->fault()));
  }
}

// False: the task was answered, or waits for a build.
bool Placement::prepare(TaskPtr& task, const TemplateSpec& spec) {
  if (!builds_.obtain(task, spec)) return false;
  if (!task->request.empty()) return true;
  const std::string wrong = make_request(catalogue_, spec, *task);
  if (wrong.empty()) return true;
  replies_.refuse(std::move(task), wrong);
  return false;
}

TemplateKey Placement::key_for(const Task& task) const {
  const bool fixed = task.job.fixed.on && !task.build;  // its runs are made alike
  return {catalogue_.find_template(task.job.template_name)->name, fixed ? 0 : task.run,
          task.job.tenant, fixed};
}

// True: the task was taken, until another template of its tenant has started.
bool Placement::waits_for_start(const TemplateKey& key, TaskPtr& task) {
  if (key.tenant.empty() || templates_.find(key)) return false;
  TemplateSlot* starting = templates_.starting_of(key.tenant);
  if (!starting) return false;
  starting->waiting.push_back(std::move(task));
  return true;
}

void Placement::on_template(const TemplateKey& key) {
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

void Placement::lease(TaskPtr task, TemplateKey key, TemplateSlot& zygote) {
  const Slot slot = cells_.find_idle(key, zygote.zygote->incarnation(), task->shape());
  if (slot != cells_.none()) {
    slot->task = std::move(task);
    return runs_.start(slot);
  }
  cells_.make_room();
  Result<void> ordered = order_cell(task, key, zygote);
  if (ordered.ok()) return;
  const sys::Error& error = ordered.error();
  const bool template_is_gone = error.code() == EPIPE || error.code() == ECONNRESET;
  if (template_is_gone) {  // which we are about to hear
    zygote.waiting.push_back(std::move(task));
  } else {
    shortage_.fail_or_wait(std::move(task), {Step::kOrderCell, error.code(), error.text()});
  }
}

void Placement::refuse_homeless(TaskPtr task) {
  const std::string why = "session: node \"" + task->job.node->id +
                          "\" is gone: the process that it was forked from has ended";
  replies_.refuse(std::move(task), why);
}

TemplatePool::Home Placement::visit_home(Task& task, const TemplateKey& key) {
  Incarnation& of = *task.job.node->of;
  if (!task.visit) task.visit = Visit::begin(task.job.node->of);
  TemplatePool::Home home = templates_.home_of(of, key);
  of.use(machine_.now());
  home.is_gone = home.is_gone || !task.visit || of.has_ended();
  return home;
}

void Placement::place_standby(TaskPtr task) {
  const TemplateKey key = key_for(*task);
  const TemplatePool::Home home = visit_home(*task, key);
  if (home.is_gone) return;
  const Slot slot = cells_.find_idle(key, task->job.node->of, task->shape());
  if (slot != cells_.none()) {
    slot->task = std::move(task);
    return runs_.start(slot);
  }
  cells_.make_room();
  (void)order_cell(task, key, home.process);
}

// Only the process that the node's own was forked from can have a child that becomes like it.
void Placement::lease_at_node(TaskPtr task, const TemplateKey& key) {
  const std::shared_ptr<const Node> node = task->job.node;
  const TemplatePool::Home home = visit_home(*task, key);
  if (home.is_gone) return refuse_homeless(std::move(task));
  Slot slot = residents_.find(*task);
  if (slot == cells_.none()) {
    const Slot coming = residents_.find_coming(*task);
    slot = cells_.find_idle(key, node->of, task->shape());
    const bool is_sooner =
        coming != cells_.none() && (coming->is_running() || slot == cells_.none());
    if (is_sooner) return void(coming->waits = std::move(task));
  }
  if (slot != cells_.none()) {
    slot->task = std::move(task);
    return runs_.start(slot);
  }
  cells_.make_room();
  Result<void> ordered = order_cell(task, key, home.process);
  if (ordered.ok()) return;
  const bool has_ended = ordered.error().code() == EPIPE || ordered.error().code() == ECONNRESET;
  if (has_ended) {
    node->of->end();
    return refuse_homeless(std::move(task));
  }
  shortage_.fail_or_wait(std::move(task),
                         {Step::kOrderCell, ordered.error().code(), ordered.error().text()});
}

Result<void> Placement::order_cell(TaskPtr& task, const TemplateKey& key, TemplateSlot& zygote) {
  TRY(order_cell(task, key, zygote.zygote.get()));
  ++zygote.cells;
  if (!requests_.is_stopping()) templates_.renew_if_due(key, zygote);
  return {};
}

Result<void> Placement::order_cell(TaskPtr& task, const TemplateKey& key, TemplateHandle* parent) {
  const Slot slot = cells_.add();
  slot->zygote = key;
  slot->parent = parent;
  slot->born_of = parent ? parent->incarnation() : task->job.node->of;
  slot->early = parent && parent->state() == TemplateHandle::State::kStarting;
  const TemplateSpec& spec = *catalogue_.find_template(key.name);
  CellEvents events = runs_.events(slot);
  Result<std::unique_ptr<CellHandle>> cell =
      parent ? machine_.order_cell(*parent, spec, task->shape(), std::move(events))
             : machine_.order_cell_of(*task->job.node->of, spec, task->shape(), std::move(events));
  if (!parent) templates_.expect_age();
  if (!cell) {
    cells_.remove(slot);
    return std::move(cell).error();
  }
  slot->cell = std::move(cell).value();
  slot->task = std::move(task);
  ++cells_made_;
  return {};
}

// A task that the early cell has no time for waits for the image.
void Placement::lease_early(TaskPtr task, const TemplateKey& key, const TemplateSpec& spec,
                            TemplateSlot& zygote) {
  if (!task->job.is_step() &&
      cells_.find_idle(key, zygote.zygote->incarnation(), task->shape()) != cells_.none())
    return lease(std::move(task), key, zygote);
  // In an early cell memory lies elsewhere.
  const bool may_come_early = !key.fixed && !task->job.is_step();
  if (catalogue_.has_early_cells(spec) && !zygote.early_cell && may_come_early) {
    zygote.early_cell = true;
    cells_.make_room();
    if (order_cell(task, key, zygote).ok()) return;
  }
  zygote.waiting.push_back(std::move(task));
}

void Placement::serve_waiting(const TemplateKey& key) {
  TemplateSlot* found = templates_.find(key);
  if (!found || found->zygote->state() != TemplateHandle::State::kStarting) return;
  std::vector<TaskPtr>& waiting = found->waiting;
  if (waiting.empty()) return;
  TaskPtr next = std::move(waiting.front());
  waiting.erase(waiting.begin());
  place(std::move(next));
}

void Placement::place_again(const TemplateKey& key, TaskPtr task) {
  if (task->job.node) {
    if (task->may_stay) residents_.begin_anew(task->job.node->id);
    return shortage_.put_back(std::move(task));
  }
  templates_.find(key)->waiting.push_back(std::move(task));  // kept while anything is leased
  templates_.note_change(key);
}

// A killed process said nothing, or its peer found it gone; another one may well live.
bool Placement::may_start_again(Task& task, const Evidence::Fault& fault) {
  const bool was_killed = fault.error == 0 || fault.error == ESRCH || fault.error == ECHILD;
  return was_killed && task.starts_lost++ < kStartsToLose;
}

}  // namespace runtime
