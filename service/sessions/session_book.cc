#include "service/sessions/session_book.h"

#include <algorithm>
#include <utility>

#include "sandbox/sys/result.h"

namespace service {

using sys::Nanoseconds;

namespace {

constexpr size_t kMostGone = 20'000;
constexpr size_t kMostGoneOfSession = 1'000;  // nodes of one that are remembered
constexpr size_t kOfSession = 4096;           // bytes, beside its steps

// Half of what the others have left.
size_t room_of(size_t most, size_t all, size_t mine) {
  const size_t others = all - mine;
  return others >= most ? 0 : (most - others) / 2;
}

}  // namespace

size_t SessionBook::bytes_of(const SessionStep& step) {
  constexpr size_t kInMaps = 256;
  return sizeof step + kInMaps + 3 * (step.node.size() + step.parent.size()) + step.body.size() +
         step.label.size();
}

bool SessionBook::fits(const Share& share, size_t bytes) const {
  return share.bytes + bytes <= room_of(plan_.most_bytes, bytes_, share.bytes) &&
         share.steps + 1 <= room_of(plan_.most_steps, steps_, share.steps);
}

bool SessionBook::has_room(const std::string& tenant, const std::string& session,
                           size_t bytes) const {
  const auto share = shares_.find(tenant);
  const bool is_new = share == shares_.end();
  // What the tenant has beside this session can go; what others have counts as it is.
  const size_t all_bytes = room_of(plan_.most_bytes, bytes_, is_new ? 0 : share->second.bytes);
  const size_t all_steps = room_of(plan_.most_steps, steps_, is_new ? 0 : share->second.steps);
  const auto found = sessions_.find(session);
  const size_t own_bytes = found == sessions_.end() ? kOfSession : found->second.bytes;
  const size_t own_steps = found == sessions_.end() ? 0 : found->second.session.steps.size();
  return own_bytes + bytes <= all_bytes && own_steps + 1 <= all_steps;
}

std::vector<SessionBook::Freed> SessionBook::make_room(const std::string& tenant,
                                                       const std::string& keep, size_t bytes) {
  std::vector<Freed> freed;
  const std::string why = "its steps made room for those of newer sessions";
  while (true) {
    const auto share = shares_.find(tenant);
    if (share == shares_.end() || fits(share->second, bytes)) return freed;
    const auto& order = share->second.by_use;
    const auto oldest =
        std::ranges::find_if(order, [&](const std::string& id) { return id != keep; });
    if (oldest == order.end()) return freed;
    freed.push_back(end(std::string(*oldest), why));
  }
}

std::vector<SessionBook::Freed> SessionBook::begin(Session session, SessionStep first,
                                                   Nanoseconds now) {
  const std::string id = session.id, tenant = session.tenant;
  std::vector<Freed> freed = make_room(tenant, "", kOfSession + bytes_of(first));
  Share& share = shares_[tenant];
  share.by_use.push_back(id);
  share.bytes += kOfSession;
  bytes_ += kOfSession;
  Kept kept{std::move(session), now, kOfSession, std::prev(share.by_use.end())};
  put(sessions_.emplace(id, std::move(kept)).first->second, std::move(first));
  return freed;
}

std::vector<SessionBook::Freed> SessionBook::add(const std::string& session, SessionStep step,
                                                 Nanoseconds now) {
  Kept& kept = sessions_.at(session);
  use(kept, now);
  std::vector<Freed> freed = make_room(kept.session.tenant, session, bytes_of(step));
  put(kept, std::move(step));
  return freed;
}

void SessionBook::put(Kept& kept, SessionStep step) {
  const size_t bytes = bytes_of(step);
  Share& share = shares_[kept.session.tenant];
  share.bytes += bytes;
  ++share.steps;
  bytes_ += bytes;
  ++steps_;
  kept.bytes += bytes;
  nodes_[step.node] = {kept.session.id, ++last_};
  kept.session.steps.emplace(last_, std::move(step));
}

void SessionBook::use(Kept& kept, Nanoseconds now) {
  Share& share = shares_[kept.session.tenant];
  share.by_use.splice(share.by_use.end(), share.by_use, kept.place);
  kept.used = now;
}

SessionBook::Missing SessionBook::missing(const std::string& kind, const std::string& id,
                                          const Sees& sees) const {
  const auto gone = gone_.find(id);
  if (gone != gone_.end() && sees(gone->second.tenant)) return {true, gone->second.why};
  return {false, "there is no such " + kind};
}

std::variant<Session*, SessionBook::Missing> SessionBook::find_session(const std::string& id,
                                                                       const Sees& sees,
                                                                       Nanoseconds now) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end() || !sees(found->second.session.tenant))
    return missing("session", id, sees);
  use(found->second, now);
  return &found->second.session;
}

std::variant<SessionBook::Place, SessionBook::Missing> SessionBook::find_node(const std::string& id,
                                                                              const Sees& sees,
                                                                              Nanoseconds now) {
  const auto where = nodes_.find(id);
  if (where == nodes_.end()) return missing("node", id, sees);
  Kept& kept = sessions_.at(where->second.session);
  if (!sees(kept.session.tenant)) return missing("node", id, sees);
  use(kept, now);
  return Place{&kept.session, &kept.session.steps.at(where->second.number)};
}

std::vector<const SessionStep*> SessionBook::path_to(const Place& place) const {
  std::vector<const SessionStep*> path;
  for (const SessionStep* step = place.step; step;) {
    path.push_back(step);
    const auto where = nodes_.find(step->parent);
    step = where == nodes_.end() ? nullptr : &place.session->steps.at(where->second.number);
  }
  std::ranges::reverse(path);
  return path;
}

void SessionBook::note_gone(const std::string& node, const std::string& why) {
  const auto where = nodes_.find(node);
  if (where == nodes_.end()) return;
  SessionStep& step = sessions_.at(where->second.session).session.steps.at(where->second.number);
  if (step.gone.empty()) step.gone = why;
}

void SessionBook::take_out(const std::string& node, const std::string& why) {
  const auto where = nodes_.find(node);
  if (where == nodes_.end()) return;
  Kept& kept = sessions_.at(where->second.session);
  auto& steps = kept.session.steps;
  const bool is_parent =
      std::ranges::any_of(steps, [&](const auto& each) { return each.second.parent == node; });
  if (is_parent || steps.size() == 1) return note_gone(node, why);
  const auto step = steps.find(where->second.number);
  const size_t bytes = bytes_of(step->second);
  Share& share = shares_[kept.session.tenant];
  share.bytes -= bytes;
  --share.steps;
  bytes_ -= bytes;
  --steps_;
  kept.bytes -= bytes;
  note(node, kept.session.tenant, why);
  steps.erase(step);
  nodes_.erase(where);
}

void SessionBook::note(const std::string& id, const std::string& tenant, std::string why) {
  if (!gone_.emplace(id, Gone{tenant, std::move(why)}).second) return;
  gone_order_.push_back(id);
  if (gone_order_.size() <= kMostGone) return;
  gone_.erase(gone_order_.front());
  gone_order_.pop_front();
}

SessionBook::Freed SessionBook::end(const std::string& session) {
  return end(session, "its client has ended it");
}

SessionBook::Freed SessionBook::end(const std::string& session, const std::string& why) {
  const auto found = sessions_.find(session);
  VERIFY(found != sessions_.end());
  const Kept kept = std::move(found->second);
  sessions_.erase(found);
  const std::string& tenant = kept.session.tenant;
  Share& share = shares_.at(tenant);
  share.by_use.erase(kept.place);
  share.bytes -= kept.bytes;
  share.steps -= kept.session.steps.size();
  bytes_ -= kept.bytes;
  steps_ -= kept.session.steps.size();
  if (share.by_use.empty()) shares_.erase(tenant);
  const std::string sentence = "session \"" + session + "\" is gone: " + why;
  note(session, tenant, sentence);
  Freed freed{tenant, {}};
  for (const auto& [number, step] : kept.session.steps) {
    nodes_.erase(step.node);
    if (step.gone.empty()) freed.nodes.push_back(step.node);
  }
  const auto& steps = kept.session.steps;
  size_t left = kMostGoneOfSession;
  for (auto step = steps.rbegin(); step != steps.rend() && left > 0; ++step, --left)
    note(step->second.node, tenant, sentence);
  return freed;
}

std::vector<SessionBook::Freed> SessionBook::end_idle(Nanoseconds now) {
  std::vector<std::string> idle;
  for (const auto& [tenant, share] : shares_) {
    for (const std::string& id : share.by_use) {
      if (now - sessions_.at(id).used < plan_.idle) break;
      idle.push_back(id);
    }
  }
  std::vector<Freed> freed;
  freed.reserve(idle.size());
  for (const std::string& id : idle) freed.push_back(end(id, "nobody has used it for too long"));
  return freed;
}

}  // namespace service
