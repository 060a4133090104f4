#include "service/apis/nemo/shells.h"

#include <algorithm>
#include <optional>

#include "sandbox/sys/utc.h"
#include "service/apis/parsed.h"
#include "service/apis/results.h"

namespace service::nemo {

namespace {

constexpr int kForbidden = 403, kNotFound = 404, kGone = 410, kNotOffered = 501;

// The client takes 502 alone for trouble of the sandbox, and would not be helped by another try of
// what is not offered.
Response response_to(const ForeignSessions::Refusal& why) {
  const bool is_for_good = why.status == kNotOffered || why.status == kForbidden;
  return is_for_good ? refusal(why.status, why.why) : trouble(why.why);
}

}  // namespace

void Shells::touch(Shell& shell) {
  shell.used = sys::monotonic_now();
  shell.used_since_1970 = sys::time_since_1970();
}

void Shells::execute(Caller caller, const std::string& name, Execution cell, Answer answer) {
  const Key key{caller.client, name};
  auto found = shells_.find(key);
  if (found == shells_.end()) {
    const bool has_most = list(caller.client).size() >= limits_.most_of_client;
    const bool is_full = has_most || shells_.size() >= limits_.most;
    if (is_full && !drop_oldest(has_most ? caller.client : ""))
      return answer(trouble("too many sessions are busy"));
    auto made = std::make_shared<Shell>(Shell{.client = caller.client, .name = name});
    made->created = sys::time_since_1970();
    found = shells_.emplace(key, std::move(made)).first;
  }
  const ShellPtr shell = found->second;
  touch(*shell);
  std::deque<Waiting>& waiting = shell->waiting;
  waiting.erase(std::remove_if(waiting.begin() + (shell->is_busy ? 1 : 0), waiting.end(),
                               [](const Waiting& each) { return each.has_left(); }),
                waiting.end());
  if (waiting.size() >= limits_.most_waiting)
    return answer(trouble("too many requests wait for this session"));
  waiting.push_back({std::move(caller), std::move(cell), std::move(answer)});
  advance(shell);
  arm();
}

void Shells::advance(const ShellPtr& shell) {
  if (shell->is_busy) return;
  while (!shell->waiting.empty() && shell->waiting.front().has_left()) shell->waiting.pop_front();
  if (shell->waiting.empty()) return;
  shell->is_busy = true;
  shell->has_begun = false;
  shell->node.empty() ? begin(shell) : run(shell);
}

void Shells::begin(const ShellPtr& shell) {
  shell->has_begun = true;
  const std::string fields = line_of({{"template", python_template(parts_.defaults)}});
  auto told = [this, alive = std::weak_ptr(alive_), sessions = &parts_.sessions,
               shell](std::variant<ForeignSessions::Begun, Refusal> answer) {
    if (!alive.expired() && !shell->is_over) return begun(shell, std::move(answer));
    if (const auto* made = std::get_if<ForeignSessions::Begun>(&answer))
      sessions->end(shell->client, made->session);
  };
  parts_.sessions.begin({shell->client, kApiName}, fields, std::move(told));
}

void Shells::begun(const ShellPtr& shell, std::variant<ForeignSessions::Begun, Refusal> told) {
  if (const auto* no = std::get_if<Refusal>(&told)) return finish(shell, response_to(*no));
  auto& made = std::get<ForeignSessions::Begun>(told);
  shell->is_new = true;
  shell->session = std::move(made.session);
  shell->node = std::move(made.node);
  run(shell);
}

void Shells::run(const ShellPtr& shell) {
  const Waiting& first = shell->waiting.front();
  if (first.has_left()) return finish(shell, trouble("nobody waits for it"));
  const auto defaults = parts_.sessions.defaults_of(shell->client, shell->node);
  if (!defaults) return ran(shell, Refusal{kGone, "the state of this session is gone"}, {});
  ReadStep step;
  step.job = defaults->job;
  step.job.source = first.cell.job.source;
  step.job.limits.wall = first.cell.job.limits.wall;
  step.job.limits.cpu = first.cell.job.limits.cpu;
  step.job.keep = true;
  step.job.policy.refusals = runtime::Refusals::kOverlooked;  // an error for the cell
  step.body = "{}";  // the log is for who wants to run it again, which the client does itself
  auto seen = std::make_shared<std::optional<CellAnswer>>();
  // Called on another thread; its answer is of no use but to be there.
  auto words = [seen, wish = first.cell.wish](const runtime::JobResult& result) {
    *seen = answer_of_cell(result, wish);
    return Response{};
  };
  auto told = [this, alive = std::weak_ptr(alive_), shell,
               seen](std::variant<ForeignSessions::Ran, Refusal> answer) {
    if (!alive.expired()) ran(shell, std::move(answer), std::move(*seen));
  };
  const std::string node = shell->node;
  parts_.sessions.run(first.caller, node, std::move(step), {std::move(words)}, std::move(told));
}

void Shells::ran(const ShellPtr& shell, std::variant<ForeignSessions::Ran, Refusal> told,
                 std::optional<CellAnswer> answer) {
  if (const auto* no = std::get_if<Refusal>(&told)) {
    const bool is_gone = no->status == kGone || no->status == kNotFound;
    if (is_gone) forget_state(*shell);
    if (is_gone && !shell->has_begun && !shell->is_over) return begin(shell);
    return finish(shell, response_to(*no));
  }
  auto& done = std::get<ForeignSessions::Ran>(told);
  if (done.kept) {
    const std::string before = std::exchange(shell->node, std::move(done.node));
    parts_.sessions.leave_out(shell->client, before);
  }
  if (shell->is_over) return finish(shell, trouble("the session was ended"));
  if (!answer) return finish(shell, trouble(done.finished.label));
  Response response =
      response_of_cell(*std::move(answer), shell->is_new, done.kept ? "" : std::move(done.why_not));
  const bool is_heard = response.status == 200 && !shell->waiting.front().has_left();
  if (is_heard) shell->is_new = false;
  finish(shell, std::move(response));
}

void Shells::finish(const ShellPtr& shell, Response response) {
  Waiting first = std::move(shell->waiting.front());
  shell->waiting.pop_front();
  shell->is_busy = false;
  touch(*shell);
  if (!first.has_left()) first.answer(std::move(response));
  advance(shell);
  const bool is_nothing = shell->session.empty() && shell->waiting.empty() && !shell->is_over;
  if (is_nothing) end(shell->client, shell->name);
}

void Shells::forget_state(Shell& shell) {
  const std::string session = std::exchange(shell.session, "");
  shell.node.clear();
  if (!session.empty()) parts_.sessions.end(shell.client, session);
}

bool Shells::end(const std::string& client, const std::string& name) {
  const auto found = shells_.find({client, name});
  if (found == shells_.end()) return false;
  const ShellPtr shell = std::move(found->second);
  shells_.erase(found);
  shell->is_over = true;
  // The one that runs is withdrawn with the session, and answered like any other.
  const auto first = shell->waiting.begin() + (shell->is_busy && !shell->session.empty() ? 1 : 0);
  std::vector<Waiting> others(std::make_move_iterator(first),
                              std::make_move_iterator(shell->waiting.end()));
  shell->waiting.erase(first, shell->waiting.end());
  forget_state(*shell);
  for (Waiting& each : others) {
    if (!each.has_left()) each.answer(trouble("the session was ended"));
  }
  return true;
}

bool Shells::drop_oldest(const std::string& client) {
  auto oldest = shells_.end();
  for (auto each = shells_.begin(); each != shells_.end(); ++each) {
    const Shell& shell = *each->second;
    if (shell.is_busy || !shell.waiting.empty()) continue;
    if (!client.empty() && shell.client != client) continue;
    if (oldest == shells_.end() || shell.used < oldest->second->used) oldest = each;
  }
  if (oldest == shells_.end()) return false;
  const Key key = oldest->first;
  return end(key.first, key.second);
}

std::vector<Shells::Listed> Shells::list(const std::string& client) const {
  std::vector<Listed> all;
  for (auto each = shells_.lower_bound({client, ""});
       each != shells_.end() && each->first.first == client; ++each)
    all.push_back({each->first.second, each->second->created, each->second->used_since_1970});
  return all;
}

void Shells::end_idle() {
  const sys::Nanoseconds now = sys::monotonic_now();
  std::vector<Key> idle;
  for (const auto& [key, shell] : shells_) {
    if (!shell->is_busy && shell->used + limits_.idle <= now) idle.push_back(key);
  }
  for (const Key& key : idle) end(key.first, key.second);
}

// A busy one is looked at again when it may be idle.
void Shells::arm() {
  if (sweep_ != 0 || shells_.empty()) return;
  sys::Nanoseconds next = sys::Nanoseconds::max();
  const sys::Nanoseconds now = sys::monotonic_now();
  for (const auto& [key, shell] : shells_)
    next = std::min(next, (shell->is_busy ? now : shell->used) + limits_.idle);
  sweep_ = parts_.deadlines.at(next, [this] {
    sweep_ = 0;
    end_idle();
    arm();
  });
}

}  // namespace service::nemo
