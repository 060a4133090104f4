#include "service/apis/native/sessions/session_keeper.h"

#include <algorithm>
#include <utility>

#include "sandbox/sys/utc.h"
#include "service/sessions/session_answers.h"
#include "service/sessions/step_reader.h"

namespace service {

namespace {

SessionBook::Plan plan_within(size_t held) {
  SessionBook::Plan plan;
  plan.most_bytes = std::min(plan.most_bytes, held / 4);
  return plan;
}

SessionStep step_of(SessionKeeper::Making making, const Finished& finished) {
  return {.node = finished.step->node,
          .parent = std::move(making.parent),
          .body = std::move(making.body),
          .label = finished.label,
          .bytes = finished.step->bytes,
          .when = sys::time_since_1970(),
          .held = std::move(making.held)};
}

}  // namespace

SessionKeeper::SessionKeeper(Parts parts, size_t most_held)
    : parts_(parts), book_(plan_within(most_held)) {}

SessionBook::Sees SessionKeeper::sees(const std::string& client) const {
  return [&tenancy = parts_.tenancy, client](const std::string& tenant) {
    const auto own = tenancy.tenant_of(client, "");
    if (own && *own == tenant) return true;
    return tenancy.by() == TenantBy::kField && tenancy.tenant_of(client, tenant).ok();
  };
}

std::string SessionKeeper::asked_for(const std::string& client, const std::string& tenant) const {
  const auto own = parts_.tenancy.tenant_of(client, "");
  return own && *own == tenant ? "" : tenant;
}

std::string SessionKeeper::begin(Making making, const runtime::Job& job, const Finished& finished) {
  if (!finished.step || !finished.step->kept) return "";
  auto defaults = std::make_shared<const runtime::JobDefaults>(defaults_behind(job));
  Session session{making.session, making.tenant, std::move(defaults), making.is_replayable};
  free(book_.begin(std::move(session), step_of(std::move(making), finished), sys::monotonic_now()));
  return finished.step->node;
}

void SessionKeeper::open(std::unique_ptr<SessionJournal> journal,
                         const std::vector<SessionRow>& earlier, sys::Milliseconds since) {
  journal_ = std::move(journal);
  for (const SessionRow& row : earlier) {
    if (row.steps.back().when_ms < since.count()) {
      journal_->end(row.id, nullptr);
      continue;
    }
    auto restored = restore(row, "the service has been started again since");
    if (!restored) {
      book_.note_lost(row.id, row.tenant,
                      "its first step cannot be read any more: " + restored.error().text());
      continue;
    }
    auto& [session, steps] = *restored;
    const sys::Nanoseconds now = sys::monotonic_now();
    free(book_.begin(std::move(session), std::move(steps.front()), now));
    for (size_t i = 1; i < steps.size(); ++i) free(book_.add(row.id, std::move(steps[i]), now));
  }
}

bool SessionKeeper::is_durable(const std::string& node) const {
  const Session* session = journal_ ? book_.session_of(node) : nullptr;
  return session && session->is_replayable;
}

void SessionKeeper::when_written(const std::vector<std::string>& nodes, Written then) {
  std::vector<const SessionStep*> steps;
  std::vector<std::string> written;
  const Session* session = nullptr;
  for (const std::string& node : nodes) {
    if (!is_durable(node)) continue;
    session = book_.session_of(node);
    for (const SessionStep* step : book_.unwritten_before(node)) {
      steps.push_back(step);
      written.push_back(step->node);
    }
  }
  if (steps.empty()) return then(true);
  Written told = [this, alive = std::weak_ptr(alive_), nodes, written = std::move(written),
                  id = session->id, then = std::move(then)](LedgerWriter::Made made) {
    if (alive.expired()) return;
    if (made && *made) {
      for (const std::string& node : written) book_.note_written(node);
    } else {
      take_back(id, nodes);
    }
    then(std::move(made));
  };
  journal_->keep(*session, steps, std::move(told));
}

void SessionKeeper::take_back(const std::string& session, const std::vector<std::string>& nodes) {
  const std::string why = "it could not be written to the disk";
  for (const std::string& node : nodes) {
    const SessionStep* step = book_.step_of(node);
    if (!step) continue;
    if (step->parent.empty()) return free({book_.end(session, why)});
    take_out(book_.session_of(node)->tenant, node, why);
  }
}

std::string SessionKeeper::keep(Making making, const Finished& finished) {
  if (!finished.step || !finished.step->kept) return "";
  const std::string session = making.session, tenant = making.tenant;
  SessionStep step = step_of(std::move(making), finished);
  const bool has_place = book_.has_session(session) && book_.has_node(step.parent) &&
                         book_.has_room(tenant, session, SessionBook::bytes_of(step));
  if (!has_place) {
    forget(tenant, finished.step->node);
    return "";
  }
  free(book_.add(session, std::move(step), sys::monotonic_now()));
  return finished.step->node;
}

void SessionKeeper::forget(const std::string& tenant, const std::string& node) {
  if (!node.empty()) parts_.engine.forget_nodes(tenant, {node});
}

void SessionKeeper::take_out(const std::string& tenant, const std::string& node,
                             const std::string& why) {
  const SessionStep* step = book_.step_of(node);
  const std::string state = step ? step->state() : node;
  const bool was_durable = is_durable(node);
  book_.take_out(node, "node \"" + node + "\" is gone: " + why);
  if (was_durable)
    book_.has_node(node) ? journal_->note_deleted(node, nullptr) : journal_->take_out(node);
  forget(tenant, state);
}

void SessionKeeper::leave_out(const std::string& tenant, const std::string& node) {
  book_.leave_out(node, "node \"" + node + "\" is gone: its session has gone on from it");
  forget(tenant, node);
}

void SessionKeeper::delete_node(const SessionBook::Place& place, Written then) {
  const std::string node = place.step->node;
  delete_again(place.session->tenant, node);
  is_durable(node) ? journal_->note_deleted(node, std::move(then)) : then(true);
}

std::string SessionKeeper::why_deleted(const std::string& node) {
  return "node \"" + node + "\" is gone: its client has deleted it";
}

void SessionKeeper::delete_again(const std::string& tenant, const std::string& node) {
  const SessionStep* step = book_.step_of(node);
  if (!step) return;
  const std::string state = step->state();
  book_.note_deleted(node, why_deleted(node));
  forget(tenant, state);
}

void SessionKeeper::note_running(const std::string& session, Dispatcher::Ticket ticket) {
  running_[session].insert(ticket);
}

void SessionKeeper::note_ended(const std::string& session, Dispatcher::Ticket ticket) {
  const auto running = running_.find(session);
  if (running == running_.end()) return;
  running->second.erase(ticket);
  if (running->second.empty()) running_.erase(running);
}

void SessionKeeper::end(const std::string& session, const Written& then) {
  release(book_.end(session), then);
  const auto running = running_.find(session);
  if (running == running_.end()) return;
  const auto tickets = running->second;  // one that is withdrawn takes itself out
  for (const Dispatcher::Ticket ticket : tickets) parts_.dispatcher.withdraw(ticket);
}

void SessionKeeper::end_idle() { free(book_.end_idle(sys::monotonic_now())); }

void SessionKeeper::release(const SessionBook::Freed& freed, Written then) {
  parts_.engine.forget_nodes(freed.tenant, freed.nodes);
  if (journal_ && freed.was_replayable) return journal_->end(freed.session, std::move(then));
  if (then) then(true);
}

void SessionKeeper::free(const std::vector<SessionBook::Freed>& freed) {
  for (const SessionBook::Freed& each : freed) release(each, nullptr);
}

// The engine may be another process, which answers when it comes to it.
void SessionKeeper::look_for(const std::string& tenant, Look look,
                             std::function<void(const Whys&)> then) {
  struct Errand {
    Look look;
    Whys whys;
  };
  auto errand = std::make_shared<Errand>(Errand{std::move(look), {}});
  runtime::run_aside(
      parts_.loop,
      [errand, tenant, engine = &parts_.engine] {
        errand->whys = engine->why_gone(tenant, errand->look.states);
      },
      [this, alive = std::weak_ptr(alive_), errand, then = std::move(then)] {
        if (alive.expired()) return;
        const auto& [nodes, states] = errand->look;
        for (size_t i = 0; i < nodes.size(); ++i) {
          rename_node(states[i], nodes[i], errand->whys[i]);
          if (!errand->whys[i].empty()) book_.note_gone(nodes[i], states[i], errand->whys[i]);
        }
        then(errand->whys);
      });
}

void SessionKeeper::add_to(Look& look, const SessionStep& step) {
  if (!step.gone.empty()) return;
  look.nodes.push_back(step.node);
  look.states.push_back(step.state());
}

void SessionKeeper::refresh(const Session& session, std::function<void()> then) {
  Look look;
  for (const auto& [number, step] : session.steps) add_to(look, step);
  look_for(session.tenant, std::move(look), [then = std::move(then)](const Whys&) { then(); });
}

void SessionKeeper::refresh_path(const std::string& node, std::function<void()> then) {
  const Session* session = book_.session_of(node);
  if (!session) return then();
  Look look;
  for (const SessionStep* step = book_.step_of(node); step; step = book_.step_of(step->parent))
    add_to(look, *step);
  look_for(session->tenant, std::move(look), [then = std::move(then)](const Whys&) { then(); });
}

void SessionKeeper::ask(const std::string& tenant, const std::string& node,
                        std::function<void(std::string)> then) {
  const SessionStep* step = book_.step_of(node);
  look_for(tenant, {{node}, {step ? step->state() : node}},
           [then = std::move(then)](const Whys& whys) { then(whys.front()); });
}

bool SessionKeeper::put_back(const std::string& tenant, const std::string& node,
                             const Finished& finished) {
  if (!finished.step || !finished.step->kept) return false;
  const bool is_back = book_.put_back(node, finished.step->node, finished.step->bytes);
  if (!is_back) forget(tenant, finished.step->node);
  return is_back;
}

}  // namespace service
