#include "service/sessions/session_journal.h"

#include <memory>
#include <utility>

#include "service/sessions/step_reader.h"

namespace service {

namespace {

StepRow row_of(const SessionStep& step) {
  return {.node = step.node,
          .parent = step.parent,
          .body = step.body,
          .label = step.label,
          .bytes = step.bytes,
          .when_ms = step.when.count(),
          .is_deleted = step.is_deleted};
}

SessionStep step_of(const StepRow& row, const std::string& why_gone) {
  return {.node = row.node,
          .parent = row.parent,
          .body = row.body,
          .label = row.label,
          .bytes = row.bytes,
          .when = sys::Milliseconds(row.when_ms),
          .gone = "node \"" + row.node +
                  "\" is gone: " + (row.is_deleted ? "its client has deleted it" : why_gone),
          .is_deleted = row.is_deleted,
          .is_written = true};
}

}  // namespace

void SessionJournal::keep(const Session& session, const std::vector<const SessionStep*>& steps,
                          Then then) {
  std::vector<StepRow> rows;
  for (const SessionStep* step : steps) rows.push_back(row_of(*step));
  if (!steps.front()->parent.empty())
    return writer_.change(StepsKept{session.id, std::move(rows)}, std::move(then));
  SessionRow row{.id = session.id,
                 .tenant = session.tenant,
                 .defaults = under_.text,
                 .template_name = under_.template_name,
                 .steps = std::move(rows)};
  writer_.change(SessionBegun{std::move(row)}, std::move(then));
}

void SessionJournal::note_deleted(const std::string& node, Then then) {
  writer_.change(NodeDeleted{node}, std::move(then));
}

void SessionJournal::take_out(const std::string& node) {
  writer_.change(StepTakenOut{node}, nullptr);
}

void SessionJournal::end(const std::string& session, Then then) {
  writer_.change(SessionOver{session}, std::move(then));
}

sys::Result<Restored> restore(const SessionRow& row, const std::string& why_gone) {
  auto under = std::make_shared<runtime::JobDefaults>();
  if (!row.defaults.empty()) *under = TRY(runtime::parse_defaults(row.defaults));
  if (!row.template_name.empty()) under->job.template_name = row.template_name;
  const ReadStep first = TRY(read_beginning(row.steps.at(0).body, *under));
  Restored restored;
  restored.session = {
      .id = row.id,
      .tenant = row.tenant,
      .defaults = std::make_shared<const runtime::JobDefaults>(defaults_behind(first.job)),
      .is_replayable = true,
      .under = under};
  for (const StepRow& step : row.steps) restored.steps.push_back(step_of(step, why_gone));
  return restored;
}

}  // namespace service
