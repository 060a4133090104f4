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
  count(kept, bytes_of(step), 0);
  ++shares_[kept.session.tenant].steps;
  ++steps_;
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

SessionBook::Listing SessionBook::list(const Sees& sees, size_t most) const {
  std::vector<const Kept*> found;
  for (const auto& [tenant, share] : shares_) {
    if (!sees(tenant)) continue;
    for (const std::string& id : share.by_use) found.push_back(&sessions_.at(id));
  }
  const auto shown = found.begin() + static_cast<ptrdiff_t>(std::min(most, found.size()));
  std::partial_sort(found.begin(), shown, found.end(),
                    [](const Kept* one, const Kept* other) { return one->used > other->used; });
  Listing listing{.sessions = {}, .all = found.size()};
  for (auto each = found.begin(); each != shown; ++each)
    listing.sessions.push_back(&(*each)->session);
  return listing;
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

SessionStep* SessionBook::find_step(const std::string& node) {
  const auto where = nodes_.find(node);
  if (where == nodes_.end()) return nullptr;
  return &sessions_.at(where->second.session).session.steps.at(where->second.number);
}

const SessionStep* SessionBook::step_of(const std::string& node) const {
  return const_cast<SessionBook*>(this)->find_step(node);
}

std::vector<std::string> SessionBook::missing_before(const std::string& node) const {
  std::vector<std::string> missing;
  const SessionStep* step = step_of(node);
  for (; step && !step->gone.empty(); step = step_of(step->parent)) missing.push_back(step->node);
  std::ranges::reverse(missing);
  return missing;
}

std::vector<const SessionStep*> SessionBook::unwritten_before(const std::string& node) const {
  std::vector<const SessionStep*> steps;
  for (const SessionStep* step = step_of(node); step && !step->is_written;
       step = step_of(step->parent))
    steps.push_back(step);
  std::ranges::reverse(steps);
  return steps;
}

void SessionBook::note_written(const std::string& node) {
  if (SessionStep* step = find_step(node)) step->is_written = true;
}

size_t SessionBook::depth_of(const std::string& node) const {
  size_t depth = 0;
  for (const SessionStep* step = step_of(node); step; step = step_of(step->parent)) ++depth;
  return depth;
}

const Session* SessionBook::session_of(const std::string& node) const {
  const auto where = nodes_.find(node);
  return where == nodes_.end() ? nullptr : &sessions_.at(where->second.session).session;
}

void SessionBook::note_gone(const std::string& node, const std::string& state,
                            const std::string& why) {
  SessionStep* step = find_step(node);
  if (step && step->gone.empty() && step->state() == state) step->gone = why;
}

void SessionBook::note_deleted(const std::string& node, const std::string& why) {
  SessionStep* step = find_step(node);
  if (!step) return;
  step->is_deleted = true;
  step->gone = why;
}

bool SessionBook::put_back(const std::string& node, const std::string& state, int64_t bytes) {
  SessionStep* step = find_step(node);
  if (!step || step->gone.empty()) return false;
  step->gone.clear();
  step->replayed = state;
  step->bytes = bytes;
  return true;
}

void SessionBook::take_out(const std::string& node, const std::string& why) {
  const auto where = nodes_.find(node);
  if (where == nodes_.end()) return;
  Kept& kept = sessions_.at(where->second.session);
  auto& steps = kept.session.steps;
  const bool is_parent =
      std::ranges::any_of(steps, [&](const auto& each) { return each.second.parent == node; });
  if (is_parent || steps.size() == 1) return note_deleted(node, why);
  note(node, kept.session.tenant, why);
  remove(kept, where->second.number);
}

void SessionBook::leave_out(const std::string& node, const std::string& why) {
  const auto where = nodes_.find(node);
  if (where == nodes_.end()) return;
  Kept& kept = sessions_.at(where->second.session);
  auto& steps = kept.session.steps;
  const auto step = steps.find(where->second.number);
  if (step->second.parent.empty()) return note_deleted(node, why);
  const std::string parent = step->second.parent;
  for (auto& [number, each] : steps) {
    if (each.parent != node) continue;
    const size_t before = bytes_of(each);
    each.parent = parent;
    count(kept, bytes_of(each), before);
  }
  remove(kept, where->second.number);
}

// In the place of what it counted before.
void SessionBook::count(Kept& kept, size_t bytes, size_t before) {
  for (size_t* sum : {&shares_[kept.session.tenant].bytes, &bytes_, &kept.bytes})
    *sum = *sum + bytes - before;
}

void SessionBook::remove(Kept& kept, uint64_t number) {
  const auto step = kept.session.steps.find(number);
  count(kept, 0, bytes_of(step->second));
  --shares_[kept.session.tenant].steps;
  --steps_;
  nodes_.erase(step->second.node);
  kept.session.steps.erase(step);
}

void SessionBook::note(const std::string& id, const std::string& tenant, std::string why) {
  if (!gone_.emplace(id, Gone{tenant, std::move(why)}).second) return;
  gone_order_.push_back(id);
  if (gone_order_.size() <= kMostGone) return;
  gone_.erase(gone_order_.front());
  gone_order_.pop_front();
}

void SessionBook::note_lost(const std::string& session, const std::string& tenant,
                            const std::string& why) {
  note(session, tenant, "session \"" + session + "\" is gone: " + why);
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
  Freed freed{tenant, session, kept.session.is_replayable, {}};
  for (const auto& [number, step] : kept.session.steps) {
    nodes_.erase(step.node);
    if (step.gone.empty()) freed.nodes.push_back(step.state());
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
