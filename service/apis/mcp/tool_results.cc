#include "service/apis/mcp/tool_results.h"

#include <fmt/format.h>

#include <utility>

#include "runtime/values/json_text.h"
#include "runtime/values/utf8.h"
#include "service/apis/results.h"

namespace service::mcp {

namespace {

Json text_content(std::string text) { return {{"type", "text"}, {"text", std::move(text)}}; }

Json image_content(const Image& image) {
  return {{"type", "image"}, {"data", image.base64}, {"mimeType", image.type}};
}

// Without `structure` it is left out.
Json result_of(Json content, bool is_error, Json structure) {
  Json result = {{"content", std::move(content)}, {"isError", is_error}};
  if (!structure.is_null()) result["structuredContent"] = std::move(structure);
  return result;
}

Json error_in(const Outcome& outcome) {
  if (!outcome.exception) return nullptr;
  return {{"type", outcome.exception->type},
          {"message", outcome.exception->message},
          {"traceback", outcome.exception->traceback}};
}

Json structure_of(const Outcome& outcome) {
  Json structure = {
      {"label", outcome.label},     {"stdout", outcome.out.text},
      {"stderr", outcome.err.text}, {"value", outcome.value ? Json(outcome.value->text) : Json()},
      {"error", error_in(outcome)}, {"left_out", outcome.left_out()}};
  if (!outcome.why.empty()) structure["why"] = outcome.why;
  return structure;
}

// The interpreter writes the traceback to standard error, as a rule.
bool has_traceback_in_err(const Outcome& outcome) {
  return outcome.exception && !outcome.exception->traceback.empty() &&
         outcome.err.text.ends_with(outcome.exception->traceback);
}

std::string exception_of(const Outcome& outcome) {
  const auto& [type, message, traceback, line] = *outcome.exception;
  const size_t end = traceback.find_last_not_of('\n');
  return end == traceback.npos ? type + ": " + message : traceback.substr(0, end + 1);
}

// All that a program said, as a person reads it.
std::string text_of(const Outcome& outcome) {
  std::string text = outcome.out.text;
  if (!outcome.err.text.empty()) text = with_line(std::move(text), "[stderr]") + outcome.err.text;
  if (outcome.value) text = with_line(std::move(text), "=> " + outcome.value->text);
  if (outcome.exception && !has_traceback_in_err(outcome))
    text = with_line(std::move(text), exception_of(outcome));
  if (!outcome.why.empty()) {
    text = with_line(std::move(text), fmt::format("{}: {}", outcome.label, outcome.why));
  } else if (!outcome.ok && !outcome.exception) {
    text = with_line(std::move(text), outcome.label);
  }
  if (outcome.images_left_out > 0)
    text = with_line(std::move(text),
                     fmt::format("[{} images are too large to be shown]", outcome.images_left_out));
  return text;
}

std::string or_nothing(std::string text) { return text.empty() ? "(no output)" : std::move(text); }

std::string not_kept(const Standing& after) {
  std::string sentence = "The state of the session is that before this call";
  if (!after.why_not.empty()) sentence += ": " + after.why_not;
  return sentence + '.';
}

Json content_of(std::string text, const Outcome& outcome) {
  Json content = Json::array({text_content(or_nothing(std::move(text)))});
  for (const Image& image : outcome.images) content.push_back(image_content(image));
  return content;
}

}  // namespace

Json refused_result(std::string_view sentence) {
  return result_of(Json::array({text_content(std::string(sentence))}), true, nullptr);
}

Json step_result(const Outcome& outcome, const Standing& after) {
  std::string text = text_of(outcome);
  if (!after.kept) text = with_line(std::move(text), not_kept(after));
  Json structure = structure_of(outcome);
  structure["kept"] = after.kept;
  if (!after.why_not.empty()) structure["why_not_kept"] = after.why_not;
  structure["step"] = after.step;
  return result_of(content_of(std::move(text), outcome), !outcome.ok || !after.kept,
                   std::move(structure));
}

Json program_result(const Outcome& outcome) {
  return result_of(content_of(text_of(outcome), outcome), !outcome.ok, structure_of(outcome));
}

Json tried_result(const std::vector<TriedOne>& tried, std::optional<size_t> kept,
                  const Standing& after, bool wanted_one) {
  std::string text;
  Json results = Json::array();
  for (size_t i = 0; i < tried.size(); ++i) {
    Outcome outcome;
    if (tried[i].outcome) {
      outcome = *tried[i].outcome;
    } else {
      outcome.label = "NotRun";
      outcome.why = tried[i].refusal;
    }
    const std::string head = fmt::format("[{}] {}", i, outcome.label);
    text = with_line(with_line(std::move(text), head), or_nothing(text_of(outcome)));
    results.push_back(structure_of(outcome));
    results.back()["index"] = i;
  }
  if (kept)
    text += fmt::format("The session goes on from [{}].\n", *kept);
  else if (wanted_one)
    text = with_line(std::move(text), not_kept(after));
  Json structure = {
      {"results", std::move(results)}, {"kept", kept ? Json(*kept) : Json()}, {"step", after.step}};
  return result_of(Json::array({text_content(std::move(text))}), wanted_one && !kept,
                   std::move(structure));
}

Json undo_result(size_t undone, size_t step) {
  const std::string text = fmt::format("{} undone. The session's state is that after {} {}.",
                                       undone, step, step == 1 ? "step" : "steps");
  return result_of(Json::array({text_content(text)}), false, {{"undone", undone}, {"step", step}});
}

Json file_result(const ReadFile& call, uint64_t size, std::string_view content) {
  // A character that is cut at the end of the part belongs to the next one.
  const uint64_t behind = static_cast<uint64_t>(call.offset) + content.size();
  const size_t whole = size > behind ? runtime::whole_characters(content) : content.size();
  const bool is_text = (whole > 0 || content.empty()) && runtime::is_utf8(content.substr(0, whole));
  if (is_text) content = content.substr(0, whole);
  const uint64_t end = static_cast<uint64_t>(call.offset) + content.size();
  const uint64_t rest = size > end ? size - end : 0;
  Json structure = {
      {"path", call.path}, {"size", size}, {"offset", call.offset}, {"left_out", rest}};
  const std::string note =
      rest > 0 ? fmt::format("[{} more bytes from offset {} on]", rest, end) : "";
  Json shown = Json::array();
  if (is_text) {
    structure["text"] = content;
    shown.push_back(text_content(std::string(content)));
  } else {
    std::string base64;
    runtime::append_base64(content, base64);
    structure["base64"] = base64;
    const std::string_view type = image_type(content);
    const bool is_image = !type.empty() && call.offset == 0 && rest == 0;
    shown.push_back(is_image ? image_content({std::string(type), std::move(base64)})
                             : text_content(std::move(base64)));
  }
  if (!note.empty()) shown.push_back(text_content(note));
  return result_of(std::move(shown), false, std::move(structure));
}

Json written_result(const WriteFile& call, size_t size, const Outcome& outcome,
                    const Standing& after) {
  if (!outcome.ok || !after.kept) {
    const std::string text = with_line(text_of(outcome), not_kept(after));
    return refused_result(text);
  }
  return result_of(
      Json::array({text_content(fmt::format("{} has {} bytes now.", call.path, size))}), false,
      {{"path", call.path}, {"size", size}, {"step", after.step}});
}

}  // namespace service::mcp
