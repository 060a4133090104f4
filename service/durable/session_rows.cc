#include "service/durable/session_rows.h"

#include <utility>

namespace service {

using sys::Result;

bool takes_away(const SessionChange& change) {
  return !std::holds_alternative<SessionBegun>(change) &&
         !std::holds_alternative<StepsKept>(change);
}

Result<bool> SessionRows::write(const SessionChange& change) {
  return std::visit([this](const auto& each) { return make(each); }, change);
}

Result<bool> SessionRows::make(const NodeDeleted& deleted) {
  return run_with("UPDATE steps SET deleted = 1 WHERE node = ?", deleted.node);
}

Result<bool> SessionRows::make(const StepTakenOut& out) {
  return run_with("DELETE FROM steps WHERE node = ?", out.node);
}

Result<bool> SessionRows::make(const SessionOver& over) {
  TRY(run_with("DELETE FROM steps WHERE session = (SELECT number FROM sessions WHERE id = ?)",
               over.session));
  return run_with("DELETE FROM sessions WHERE id = ?", over.session);
}

Result<bool> SessionRows::run_with(const char* sql, const std::string& text) {
  auto row = TRY(database_.query(sql));
  row->text(text);
  TRY(row->run());
  return database_.changed() > 0;
}

Result<bool> SessionRows::make(const SessionBegun& begun) {
  const SessionRow& session = begun.session;
  auto row = TRY(
      database_.query("INSERT INTO sessions (id, tenant, defaults, template) VALUES (?, ?, ?, ?) "
                      "ON CONFLICT (id) DO NOTHING"));
  row->text(session.id).text(session.tenant).text(session.defaults).text(session.template_name);
  TRY(row->run());
  return make(StepsKept{session.id, session.steps});
}

Result<bool> SessionRows::make(const StepsKept& kept) {
  TRY(database_.run("SAVEPOINT steps_kept"));
  bool are_made = true;
  for (const StepRow& step : kept.steps) are_made = are_made && TRY(insert(kept.session, step));
  if (!are_made) TRY(database_.run("ROLLBACK TO steps_kept"));
  TRY(database_.run("RELEASE steps_kept"));
  return are_made;
}

Result<bool> SessionRows::insert(const std::string& session, const StepRow& step) {
  auto row = TRY(database_.query(
      "INSERT INTO steps (session, node, parent, body, label, bytes, when_ms, deleted) "
      "SELECT s.number, ?2, ?3, ?4, ?5, ?6, ?7, ?8 FROM sessions s WHERE s.id = ?1 AND (?3 = '' OR "
      "EXISTS (SELECT 1 FROM steps p WHERE p.node = ?3 AND p.session = s.number)) "
      "ON CONFLICT (node) DO NOTHING"));
  row->text(session).text(step.node).text(step.parent).bytes(step.body).text(step.label);
  row->number(step.bytes).number(step.when_ms).number(step.is_deleted ? 1 : 0);
  TRY(row->run());
  if (database_.changed() > 0) return true;
  auto there = TRY(database_.query("SELECT 1 FROM steps WHERE node = ?"));
  there->text(step.node);
  return there->next();
}

Result<std::vector<StepRow>> SessionRows::steps_of(int64_t session) {
  auto rows =
      TRY(database_.query("SELECT node, parent, body, label, bytes, when_ms, deleted FROM steps "
                          "WHERE session = ? ORDER BY number"));
  rows->number(session);
  std::vector<StepRow> steps;
  while (TRY(rows->next())) {
    steps.push_back({.node = rows->bytes_at(0),
                     .parent = rows->bytes_at(1),
                     .body = rows->bytes_at(2),
                     .label = rows->bytes_at(3),
                     .bytes = rows->number_at(4),
                     .when_ms = rows->number_at(5),
                     .is_deleted = rows->number_at(6) != 0});
  }
  return steps;
}

Result<std::vector<SessionRow>> SessionRows::load() {
  auto rows = TRY(database_.query(
      "SELECT s.number, s.id, s.tenant, s.defaults, s.template FROM sessions s "
      "JOIN steps t ON t.session = s.number GROUP BY s.number ORDER BY max(t.number)"));
  std::vector<SessionRow> sessions;
  while (TRY(rows->next())) {
    sessions.push_back({.id = rows->bytes_at(1),
                        .tenant = rows->bytes_at(2),
                        .defaults = rows->bytes_at(3),
                        .template_name = rows->bytes_at(4),
                        .steps = TRY(steps_of(rows->number_at(0)))});
  }
  return sessions;
}

}  // namespace service
