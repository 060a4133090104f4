#pragma once
// A machine without a kernel: templates and cells change their states when a test says so, time
// passes when it says so, and what the scheduler has asked for waits until it is let happen.

#include <algorithm>
#include <cerrno>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/scheduler/machine.h"
#include "runtime/scheduler/scheduler.h"

namespace runtime::fake {

class FakeMachine;
class FakeCell;

class FakeTemplate;

// By which other machines find the template.
struct FakeLine : Incarnation {
  FakeTemplate* process = nullptr;  // null: it is gone
};

class FakeTemplate : public TemplateHandle {
 public:
  FakeTemplate(FakeMachine& machine, std::string name, std::function<void()> changed);
  ~FakeTemplate() override;

  State state() const override { return state_; }
  const std::string& identity() const override { return name_; }
  const std::string& reason() const override { return reason_; }
  Evidence::Fault fault() const override { return {shim::Step::kStartTemplate, error_, reason_}; }
  bool was_killed() const override { return killed_; }
  void end() override;
  bool is_ending() const override {
    return ending_ && (state_ == State::kStarting || state_ == State::kReady);
  }

  const std::string& name() const { return name_; }
  std::list<FakeCell*> children;  // on whatever machine
  void become_ready() { become(State::kReady); }
  void refuse() { become(State::kRefused); }
  void fail(int error) {
    error_ = error;
    become(State::kFailed);
  }
  void die() {
    killed_ = true;
    become(State::kFailed);
  }

 private:
  void become(State state) {
    state_ = state;
    if (state != State::kReady) incarnation()->end();
    if (state != State::kReady) reason_ = "as the test said";
    changed_();
  }

  FakeMachine& machine_;
  const std::string name_;
  std::function<void()> changed_;
  State state_ = State::kStarting;
  bool killed_ = false, ending_ = false;
  int error_ = 0;
  std::string reason_;
};

class FakeCell : public CellHandle {
 public:
  FakeCell(FakeMachine& machine, FakeTemplate& parent, const CellShape& shape, CellEvents events);
  ~FakeCell() override;

  State state() const override { return state_; }
  const CellShape& shape() const override { return shape_; }
  sandbox::Layers layers() const override { return {}; }
  const Evidence::Fault& fault() const override { return fault_; }
  bool worn() const override { return worn_; }
  bool is_fresh() const override { return runs_ == 0; }
  sys::Result<void> set_limits(const Limits&) override {
    if (const int error = std::exchange(limits_error, 0))
      return sys::Error::from_errno("set limits", error);
    return {};
  }
  bool lets_stay() const override { return may_occupy; }
  void vacate() override {
    if (state_ != State::kOccupied) throw std::logic_error("nobody is there to leave");
    state_ = State::kStarting;
    stays_.reset();
  }
  void cancel() override { cancelled_ = true; }
  void signal(int) override {}
  void end(std::function<void()> gone) override {
    state_ = State::kDead;
    on_gone_ = std::move(gone);
  }
  bool gone() const override { return gone_; }

  // The test lets these happen.
  bool is_ended() const { return on_gone_ != nullptr; }  // by the scheduler
  bool has_lost_parent() const {
    return !parent || parent->state() == TemplateHandle::State::kFailed;
  }
  void become_ready() {
    state_ = State::kIdle;
    events_.ready();
  }
  void die(int error = 0) {
    fault_ = {shim::Step::kCell, error, "as the test said"};
    const bool ran = state_ == State::kRunning;
    state_ = State::kDead;
    let_go();
    if (!ran) return events_.dead();
    RunResult result;
    result.evidence.fault = fault_;
    result.evidence.cancelled = cancelled_;
    result.ran = true;
    events_.finished(std::move(result));
  }
  void finish(RunResult result) {
    result.evidence.cancelled = cancelled_;
    state_ = State::kIdle;
    let_go();
    events_.finished(std::move(result));
  }
  // Its process stays with the state that it has left.
  void stay(RunResult result) {
    stays_ = result.state;
    state_ = State::kOccupied;
    let_go();
    events_.finished(std::move(result));
  }
  // Its process stands by, at the node that it has been put to.
  void stand() {
    RunResult result;
    result.state = from;
    stay(std::move(result));
  }
  void finish_well(std::string output = "");
  void finish_with(Evidence::Fault fault, bool ran) {
    RunResult result;
    result.evidence.fault = std::move(fault);
    result.ran = ran;
    finish(std::move(result));
  }
  void vanish() {
    gone_ = true;
    on_gone_();
  }
  void wear_out() { worn_ = true; }
  void begin(const Task& task) {
    went_on = state_ == State::kOccupied;
    if (went_on && (!task.state || task.state->bytes != stays_->bytes))
      throw std::logic_error("a step in the process of another node");
    stays_.reset();
    may_stay = task.may_stay;
    stands_by = task.stands_by;
    state_ = State::kRunning;
    cancelled_ = false;
    ++runs_;
    job = task.job.id;
    tenant = task.job.tenant;
    builds = task.build != nullptr;
    from = task.state;
    turn = task.turn;
    if (task.job.node && !from) throw std::logic_error("a step without the state of its node");
  }

  FakeTemplate* parent;
  std::string job;  // that runs, or ran last
  std::string tenant;
  bool builds = false;                    // and it was its compiler
  std::shared_ptr<const NodeState> from;  // while it runs
  std::shared_ptr<NodeTurn> turn;
  bool went_on = false, may_stay = false;  // in a process that was there; its own process
  bool stands_by = false;                  // it runs no step, but is put to a node
  int limits_error = 0;
  bool may_occupy = true;

 private:
  void let_go() {
    from.reset();
    turn.reset();
  }

  std::shared_ptr<const NodeState> stays_;
  FakeMachine& machine_;
  const CellShape shape_;
  CellEvents events_;
  State state_ = State::kStarting;
  Evidence::Fault fault_;
  bool worn_ = false, cancelled_ = false, gone_ = false;
  unsigned runs_ = 0;
  std::function<void()> on_gone_;
};

class FakeMachine : public Machine {
 public:
  sys::Nanoseconds now() const override { return time; }
  void wake() override { woken = true; }
  void ask_again(sys::Nanoseconds delay) override { ask_at = time + delay; }
  void age_again(sys::Nanoseconds delay) override { age_at = time + delay; }
  void vacate_again(sys::Nanoseconds delay) override { vacate_at = time + delay; }
  void stand_by_again(sys::Nanoseconds delay) override { stand_by_at = time + delay; }
  void finished() override { is_finished = true; }
  sys::Result<std::unique_ptr<TemplateHandle>> start_template(
      const TemplateSpec& spec, TemplateVariant variant, std::function<void()> changed) override {
    variants.push_back(variant);
    if (template_error != 0) return sys::Error::from_errno("start template", template_error);
    return std::unique_ptr<TemplateHandle>(
        std::make_unique<FakeTemplate>(*this, spec.name, std::move(changed)));
  }
  sys::Result<std::unique_ptr<CellHandle>> order_cell(TemplateHandle& parent, const TemplateSpec&,
                                                      const CellShape& shape,
                                                      CellEvents events) override {
    auto& from = static_cast<FakeTemplate&>(parent);
    if (cell_error != 0) return sys::Error::from_errno("order cell", cell_error);
    ++cells_made;
    return std::unique_ptr<CellHandle>(
        std::make_unique<FakeCell>(*this, from, shape, std::move(events)));
  }
  sys::Result<std::unique_ptr<CellHandle>> order_cell_of(Incarnation& of, const TemplateSpec& spec,
                                                         const CellShape& shape,
                                                         CellEvents events) override {
    FakeTemplate* process = static_cast<FakeLine&>(of).process;
    if (!process || of.has_ended()) return sys::Error::from_errno("order cell", EPIPE);
    return order_cell(*process, spec, shape, std::move(events));
  }
  sys::Result<void> open_input(Task&) override {
    if (const int error = std::exchange(input_error, 0))
      return sys::Error::from_errno("pipe", error);
    return {};
  }
  void run(CellHandle& cell, Task& task) override { static_cast<FakeCell&>(cell).begin(task); }
  void aside(std::function<void()> work, std::function<void()> done) override {
    asides.emplace_back(std::move(work), std::move(done));
  }
  uint64_t oom_kills() const override { return ooms; }

  // The other thread has done its work, and the loop hears of it.
  void come_back() {
    auto [work, done] = std::move(asides.front());
    asides.pop_front();
    work();
    if (done) done();
  }

  sys::Nanoseconds time = std::chrono::hours(1);
  bool woken = false, is_finished = false;
  std::optional<sys::Nanoseconds> ask_at, age_at, vacate_at, stand_by_at;
  int template_error = 0, cell_error = 0, input_error = 0;
  uint64_t ooms = 0, cells_made = 0;
  unsigned dropped_alive = 0;             // templates whose end the loop would have waited for
  unsigned ended_under_jobs = 0;          // and those whose end takes a program that runs along
  std::vector<TemplateVariant> variants;  // that were started
  std::list<FakeTemplate*> templates;     // that the scheduler holds, oldest first; likewise:
  std::list<FakeCell*> cells;
  std::deque<std::pair<std::function<void()>, std::function<void()>>> asides;
};

inline FakeTemplate::FakeTemplate(FakeMachine& machine, std::string name,
                                  std::function<void()> changed)
    : TemplateHandle(std::make_shared<FakeLine>()),
      machine_(machine),
      name_(std::move(name)),
      changed_(std::move(changed)) {
  machine_.templates.push_back(this);
  static_cast<FakeLine&>(*incarnation()).process = this;
}

inline void FakeTemplate::end() {
  ending_ = true;
  const auto runs = [](const FakeCell* cell) {
    return cell->state() == CellHandle::State::kRunning;
  };
  if (std::any_of(children.begin(), children.end(), runs)) ++machine_.ended_under_jobs;
}

inline FakeTemplate::~FakeTemplate() {
  machine_.templates.remove(this);
  incarnation()->end();
  static_cast<FakeLine&>(*incarnation()).process = nullptr;
  for (FakeCell* cell : children) cell->parent = nullptr;
  if (state_ == State::kStarting || state_ == State::kReady) ++machine_.dropped_alive;
}

inline FakeCell::FakeCell(FakeMachine& machine, FakeTemplate& of, const CellShape& shape,
                          CellEvents events)
    : parent(&of), machine_(machine), shape_(shape), events_(std::move(events)) {
  machine_.cells.push_back(this);
  of.children.push_back(this);
}

inline FakeCell::~FakeCell() {
  machine_.cells.remove(this);
  if (parent) parent->children.remove(this);
}

inline void FakeCell::finish_well(std::string output) {
  RunResult result;
  result.ran = true;
  result.testimony.kind = Testimony::Kind::kFinished;
  result.out.total = output.size();
  result.out.bytes = std::move(output);
  if (builds) result.files.files.push_back({"main", "#!/bin/true", true});
  finish(std::move(result));
}

// "python", which is an interpreter, and "c", whose programs are compiled.
class FakeCatalogue : public Catalogue {
 public:
  FakeCatalogue() {
    auto compiled = std::make_shared<RuntimeSpec>();
    compiled->name = "c";
    compiled->file = "main.c";
    compiled->extensions = {"c"};
    compiled->compile = {"cc", "-o", "main", "main.c"};
    compiled->artefacts = {"main"};
    compiled->run = {"./main"};
    templates_.push_back({"python", {}, ""});
    templates_.push_back({"c", {}, "", compiled});
    tools_.compile = "/usr/bin/cc";
  }

  const TemplateSpec* find_template(const std::string& name) const override {
    const auto is = [&name](const TemplateSpec& spec) { return spec.name == name; };
    const auto found = std::find_if(templates_.begin(), templates_.end(), is);
    return found == templates_.end() ? nullptr : &*found;
  }
  std::string template_names() const override { return "python, c"; }
  sandbox::Level level() const override { return sandbox::Level::kFull; }
  std::string unmet(const std::vector<std::string>& required) const override {
    return required.empty() ? "" : required.front();
  }
  bool has_python() const override { return true; }
  bool has_early_cells(const TemplateSpec& spec) const override {
    return early_cells && !spec.runtime;
  }
  bool is_warm(const TemplateSpec&) const override { return false; }
  std::string preload_of_programs() const override { return "/.zygo/zygo-fixed.so"; }
  std::string objection_to_fixed_mode(bool starts) const override {
    return starts ? fixed_objection : "";
  }
  bool is_dynamic(const std::string&) const override { return true; }
  bool fixes_addresses() const override { return true; }
  const Toolchain& toolchain_of(const TemplateSpec&) const override { return tools_; }
  const images::Image* image() const override { return nullptr; }
  std::optional<std::string> find_program(const std::string&) const override { return {}; }
  CommandRule rule_of_command(const std::string&) const override { return {}; }
  sys::Milliseconds tenant_idle() const override { return std::chrono::minutes(5); }
  std::string identity_of_build(const TemplateSpec&) const override { return "cc 12"; }
  std::string build_key(std::string key, const std::string& tenant) const override {
    return key + tenant;
  }
  ArtefactStore& artefacts() override { return artefacts_; }
  BuildCache* builds() override { return nullptr; }

  bool early_cells = false;
  std::string fixed_objection;

 private:
  std::vector<TemplateSpec> templates_;
  Toolchain tools_;
  ArtefactStore artefacts_{sys::mebibytes(1)};
};

// It sends jobs, and keeps the answers to each.
class FakeClient {
 public:
  TaskPtr task(Job job, sys::Nanoseconds now) {
    auto task = std::make_unique<Task>();
    task->accepted_at = now;
    task->done = [this, id = job.id](JobResult result) {
      answers[id].push_back(std::move(result));
    };
    answers[job.id];
    task->job = std::move(job);
    return task;
  }
  // Empty: it has not been answered; else the labels, of which there is one.
  std::string label(const std::string& id) const {
    std::string labels;
    for (const JobResult& result : answers.at(id)) labels += result.verdict.label();
    return labels;
  }

  std::map<std::string, std::vector<JobResult>> answers;
};

}  // namespace runtime::fake
