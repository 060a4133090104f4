#include "service/apis/e2b/steps.h"

#include <algorithm>

namespace service::e2b {

namespace {

using Ran = ForeignSessions::Ran;
using Refusal = ForeignSessions::Refusal;

// Its turn never came, and nothing is said of its state.
constexpr int kNotDone = 409;
constexpr int kNoRoom = 507;
constexpr const char* kGone = "the sandbox or its context is gone";
constexpr const char* kLeft = "its client has left";
constexpr std::string_view kCancelled = "Cancelled";

bool has_left(const ExchangePtr& exchange) { return exchange && !exchange->open(); }

class Quiet {
 public:
  explicit Quiet(unsigned& depth) : depth_(depth) { ++depth_; }
  ~Quiet() { --depth_; }
  Quiet(const Quiet&) = delete;

 private:
  unsigned& depth_;
};

}  // namespace

bool Steps::change(const Sandbox& sandbox, const std::string& context, Task task) {
  const Key key{sandbox.id, context};
  Line& line = lines_[key];
  if (line.waiting.size() >= kMostWaiting) sweep(line);
  if (line.waiting.size() >= kMostWaiting) return false;
  line.waiting.push_back(std::move(task));
  advance(key);
  return true;
}

void Steps::change_next(const Sandbox& sandbox, const std::string& context, Task task) {
  const Key key{sandbox.id, context};
  lines_[key].waiting.push_front(std::move(task));
  advance(key);
}

void Steps::withdraw(const Sandbox& sandbox, const std::string& context, const Exchange& whose) {
  const auto found = lines_.find({sandbox.id, context});
  const bool is_it =
      found != lines_.end() && found->second.runs && found->second.whose.lock().get() == &whose;
  if (is_it) sessions_.withdraw(found->second.ticket);
}

void Steps::look(const Sandbox& sandbox, const State& at, Task task) {
  beside(sandbox, at, Leaves::kNothing, std::move(task));
}

void Steps::branch(const Sandbox& sandbox, const State& from, Task task) {
  beside(sandbox, from, Leaves::kState, std::move(task));
}

void Steps::take_out(const std::string& client, const std::string& node) {
  sessions_.take_out(client, node);
}

void Steps::beside(const Sandbox& sandbox, const State& at, Leaves leaves, Task task) {
  store_.hold(at);
  // Whoever is told goes on from what it leaves, which is of the same session.
  auto over = [this, client = sandbox.client, at, told = task.told](Outcome outcome) {
    const auto last = [this, client, at, told](Outcome is) {
      told(std::move(is));
      forget(store_.release(client, at));
    };
    tell(last, std::move(outcome));
  };
  run(sandbox.client, at, leaves, task, std::move(over));
}

void Steps::drop(const std::string& sandbox, const std::string& context, const std::string& why) {
  const auto found = lines_.find({sandbox, context});
  if (found == lines_.end()) return;
  const Quiet quiet(quiet_);
  Line line = std::move(found->second);
  lines_.erase(found);
  if (line.runs) {
    *line.dropped = why;
    sessions_.withdraw(line.ticket);
  }
  for (Task& task : line.waiting) tell(task.told, Refusal{kNotDone, why});
}

uint64_t Steps::hold(const std::string& sandbox, const std::string& context,
                     const std::string& why) {
  drop(sandbox, context, why);
  Line& line = lines_[{sandbox, context}];
  line.runs = true;
  line.dropped = std::make_shared<std::string>();
  return line.number = ++last_;
}

bool Steps::resume(const std::string& sandbox, const std::string& context, uint64_t held,
                   const State* now) {
  const Key key{sandbox, context};
  const auto found = lines_.find(key);
  if (found == lines_.end() || found->second.number != held) return false;
  Sandbox* of = store_.find(sandbox);
  Context* in = of ? of->context(context) : nullptr;
  if (in && now) {
    in->executions = 0;
    in->leftovers.clear();
    forget(store_.set(*of, *in, *now));
  }
  found->second.runs = false;
  advance(key);
  return in != nullptr;
}

void Steps::forget(const std::vector<SandboxStore::Freed>& freed) {
  const Quiet quiet(quiet_);
  for (const auto& [client, state] : freed) {
    if (state.node.empty()) {
      sessions_.end(client, state.session);
    } else {
      sessions_.leave_out(client, state.node);
    }
  }
}

void Steps::advance(const Key& key) {
  const auto found = lines_.find(key);
  if (found == lines_.end() || found->second.runs) return;
  Line& line = found->second;
  sweep(line);
  if (line.waiting.empty()) {
    lines_.erase(found);
    return;
  }
  Sandbox* sandbox = store_.find(key.first);
  Context* context = sandbox ? sandbox->context(key.second) : nullptr;
  if (!context) return drop(key.first, key.second, kGone);
  Task task = std::move(line.waiting.front());
  line.waiting.pop_front();
  line.runs = true;
  line.ticket = 0;
  line.whose = task.exchange;
  line.dropped = std::make_shared<std::string>();
  const uint64_t number = line.number = ++last_;
  auto over = [this, key, turn = Turn{number, sandbox->client, line.dropped},
               told = task.told](Outcome outcome) { end(key, turn, told, std::move(outcome)); };
  const auto ticket = run(sandbox->client, context->now, Leaves::kState, task, std::move(over));
  const auto still = lines_.find(key);  // it may be over already
  if (still != lines_.end() && still->second.number == number) still->second.ticket = ticket;
}

void Steps::end(const Key& key, const Turn& turn, const Told& told, Outcome&& outcome) {
  const auto found = lines_.find(key);
  const bool is_current = found != lines_.end() && found->second.number == turn.number;
  Sandbox* sandbox = is_current ? store_.find(key.first) : nullptr;
  Context* context = sandbox ? sandbox->context(key.second) : nullptr;
  if (const auto* ran = std::get_if<Ran>(&outcome); ran && ran->kept && context) {
    forget(store_.set(*sandbox, *context, {context->now.session, ran->node}));
  } else if (!context) {
    if (ran && ran->kept) sessions_.take_out(turn.client, ran->node);
    const bool is_cancelled = ran && ran->finished.label == kCancelled;
    if (!is_cancelled) outcome = Refusal{kNotDone, turn.dropped->empty() ? kGone : *turn.dropped};
  } else if (ran && ran->finished.step && ran->finished.step->kept) {
    outcome = Refusal{kNoRoom, "what was done is not kept: " + ran->why_not};
  }
  if (is_current) found->second.runs = false;
  tell(told, std::move(outcome));
  advance(key);
}

ForeignSessions::Ticket Steps::run(const std::string& client, State at, Leaves leaves, Task& task,
                                   Told told) {
  const auto defaults = sessions_.defaults_of(client, at.node);
  if (!defaults) {
    told(Refusal{410, "its state is gone"});
    return 0;
  }
  ReadStep step;
  step.job = defaults->job;
  step.job.keep = leaves == Leaves::kState;
  task.fill(step.job);
  step.body = std::move(task.note);
  ForeignSessions::Caller caller{client, api_, task.exchange};
  caller.patience = std::nullopt;
  const auto ticket = sessions_.run(std::move(caller), at.node, std::move(step),
                                    {std::move(task.words)}, std::move(told));
  if (ticket != 0 && task.begun) task.begun();
  return ticket;
}

void Steps::sweep(Line& line) {
  std::erase_if(line.waiting, [this](Task& task) {
    if (!has_left(task.exchange)) return false;
    tell_later(std::move(task.told), Refusal{kNotDone, kLeft});
    return true;
  });
}

void Steps::tell(const Told& told, Outcome outcome) {
  quiet_ > 0 ? tell_later(told, std::move(outcome)) : told(std::move(outcome));
}

void Steps::tell_later(Told told, Outcome outcome) {
  late_.emplace_back(std::move(told), std::move(outcome));
  soon_.start();
}

void Steps::tell_late() {
  auto late = std::exchange(late_, {});
  for (auto& [told, outcome] : late) told(std::move(outcome));
}

}  // namespace service::e2b
