#include "service/sessions/session_answers.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "runtime/values/json_text.h"
#include "sandbox/sys/utc.h"
#include "service/admission/refusals.h"

namespace service {

namespace {

constexpr unsigned kComeBack = 5;  // seconds

void append_id(const std::string& id, std::string& out) {
  id.empty() ? void(out += "null") : void(runtime::append_json_string(id, out));
}

void append_field(std::string_view name, const std::string& text, std::string& out) {
  out += fmt::format(",\"{}\":", name);
  append_id(text, out);
}

void append_score(const std::optional<double>& score, std::string& out) {
  out += ",\"score\":";
  if (!score) {
    out += "null";
  } else if (std::isinf(*score)) {
    out +=
        *score > 0 ? R"({"$type":"float","value":"inf"})" : R"({"$type":"float","value":"-inf"})";
  } else {
    runtime::append_json_double(*score, out);
  }
}

// The fields of an object behind others.
void append_object(std::string_view object, std::string& out) {
  if (object.size() > 2) out += ',';
  out += object.substr(1);
}

}  // namespace

Response missing_response(std::string_view kind, const SessionBook::Missing& missing) {
  if (missing.was_there) return gone_response(missing.why);
  return error_response(404, fmt::format("no_{}", kind), missing.why);
}

Response gone_response(const std::string& why) { return error_response(410, "gone", why); }

Response log_is_full() {
  return error_response(507, "log_full",
                        "the steps of this session, with what they say, are as many and as long as "
                        "a tenant's may be");
}

Response unwritten_response(const sys::Result<bool>& made) {
  return made ? gone_response("the node or the session that the step went on from is gone")
              : not_written(made.error());
}

NoBeginning why_no_beginning(const Finished& finished) {
  const auto result = nlohmann::json::parse(finished.json, nullptr, false);
  const auto text = [&result](const char* object, const char* field) -> std::string {
    const auto outer = result.find(object);
    if (outer == result.end() || !outer->is_object()) return {};
    const auto inner = outer->find(field);
    return inner != outer->end() && inner->is_string() ? inner->get<std::string>() : std::string();
  };
  const std::string message = text("detail", "message");
  if (finished.label == "BadJob") return {400, "bad_job", message};
  if (finished.label == "Cancelled") return {503, "cancelled", "the first step was cancelled", 1};
  if (finished.label == "SandboxError")
    return {503, "sandbox", "the first step could not be run: " + message, kComeBack};
  const std::string why = text("session", "why_not");
  if (finished.label == "OK" && why == "more than the memory for nodes")
    return {507, "nodes_memory", "the first step was not kept: " + why, kComeBack};
  return {422, "not_kept",
          "the first step ended with " + finished.label +
              " and was not kept: " + (why.empty() ? message : why)};
}

Response no_beginning(const Finished& finished) {
  NoBeginning no = why_no_beginning(finished);
  if (no.status == 400) return bad_job_response(std::move(no.why));
  return no.retry_after > 0 ? busy_response(no.status, no.code, no.why, no.retry_after)
                            : error_response(no.status, no.code, no.why);
}

std::string step_result(const std::string& node, const std::string& parent, size_t replayed,
                        std::string_view result) {
  std::string out = "{\"node\":";
  append_id(node, out);
  append_field("parent", parent, out);
  if (replayed > 0) out += fmt::format(",\"replayed\":{}", replayed);
  append_object(result, out);
  return out;
}

void rename_node(const std::string& state, const std::string& node, std::string& sentence) {
  const size_t at = state == node ? sentence.npos : sentence.find(state);
  if (at != sentence.npos) sentence.replace(at, state.size(), node);
}

std::function<void(runtime::JobResult&)> renaming(const std::string& node,
                                                  const std::string& state) {
  if (node == state) return nullptr;
  return [node, state](runtime::JobResult& result) {
    for (auto& [key, value] : result.verdict.detail) {
      if (auto* text = std::get_if<std::string>(&value)) rename_node(state, node, *text);
    }
    if (!result.step) return;
    if (result.step->parent == state) result.step->parent = node;
    if (result.step->node == state) result.step->node = node;
  };
}

std::string tried_result(const Tried& tried, const std::string& parent, const ScoredLine& line,
                         std::string_view result) {
  std::string out = fmt::format("{{\"index\":{}", tried.index);
  append_field("node", tried.node, out);
  append_field("parent", parent, out);
  if (line.scored) append_score(tried.score, out);
  if (!line.why_not.empty()) append_field("why_no_score", line.why_not, out);
  append_object(result, out);
  return out;
}

std::string summary_of(const Selection& selection, bool scored) {
  std::string out = fmt::format(R"({{"summary":{{"steps":{},"ok":{},"kept":[)", selection.ended(),
                                selection.ok());
  bool first = true;
  for (const Tried& tried : selection.kept()) {
    out += fmt::format("{}{{\"index\":{}", first ? "" : ",", tried.index);
    append_field("node", tried.node, out);
    if (scored) append_score(tried.score, out);
    out += '}';
    first = false;
  }
  return out + "]}}";
}

std::string log_json(const std::string& session, const std::vector<const SessionStep*>& path) {
  std::string out = "{\"session\":";
  append_id(session, out);
  append_field("node", path.empty() ? "" : path.back()->node, out);
  out += ",\"steps\":[";
  for (const SessionStep* step : path) {
    out += step == path.front() ? "{\"node\":" : ",{\"node\":";
    append_id(step->node, out);
    append_field("parent", step->parent, out);
    append_field("label", step->label, out);
    append_field("time", sys::utc_text(step->when), out);
    append_object(step->body, out);
  }
  return out + "]}";
}

std::string tree_json(const Session& session) {
  std::string out = "{\"session\":";
  append_id(session.id, out);
  append_field("template", session.defaults->job.template_name, out);
  out += ",\"nodes\":[";
  bool first = true;
  for (const auto& [number, step] : session.steps) {
    out += first ? "{\"node\":" : ",{\"node\":";
    first = false;
    append_id(step.node, out);
    append_field("parent", step.parent, out);
    append_field("label", step.label, out);
    append_field("time", sys::utc_text(step.when), out);
    out += fmt::format(",\"bytes\":{},\"there\":{}", step.bytes, step.gone.empty());
    if (!step.gone.empty()) append_field("why_gone", step.gone, out);
    out += '}';
  }
  return out + "]}";
}

std::string list_json(const SessionBook::Listing& listing) {
  std::string out = "{\"sessions\":[";
  for (const Session* session : listing.sessions) {
    out += session == listing.sessions.front() ? "{\"session\":" : ",{\"session\":";
    append_id(session->id, out);
    append_field("tenant", session->tenant, out);
    append_field("template", session->defaults->job.template_name, out);
    out += fmt::format(",\"nodes\":{}", session->steps.size());
    append_field("began", sys::utc_text(session->steps.begin()->second.when), out);
    append_field("last", sys::utc_text(session->steps.rbegin()->second.when), out);
    out += '}';
  }
  return out + fmt::format("],\"more\":{}}}", listing.all - listing.sessions.size());
}

}  // namespace service
