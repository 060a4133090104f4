#include "service/apis/mcp/outcome.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "runtime/values/json_text.h"
#include "runtime/values/utf8.h"
#include "runtime/values/value.h"
#include "service/apis/results.h"

namespace service::mcp {

namespace {

using nlohmann::json;

constexpr std::string_view kImages[] = {"image/png", "image/jpeg"};

std::string spelled(const runtime::DetailValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  return std::get<bool>(value) ? "yes" : "no";
}

// "limit cpu, limit_ms 300, measured_ms 304".
std::string sentence_of(const runtime::Verdict& verdict) {
  if (const std::string* message = detail_text(verdict, "message")) return *message;
  std::string sentence;
  for (const auto& [key, value] : verdict.detail)
    sentence += fmt::format("{}{} {}", sentence.empty() ? "" : ", ", key, spelled(value));
  return sentence;
}

// Bytes, as a value or in base64 already, as IPython allows.
std::string base64_of(const json& shown) {
  if (shown.is_string()) return shown.get<std::string>();
  const bool is_bytes = shown.is_object() && shown.value("$type", json()) == "bytes" &&
                        shown.contains("data") && shown["data"].is_string();
  return is_bytes ? shown["data"].get<std::string>() : "";
}

bool is_base64(const std::string& text) {
  std::string bytes;
  return !text.empty() && runtime::append_from_base64(text, bytes);
}

void read_display(const runtime::JobResult& result, const Bounds& bounds, Outcome& into) {
  if (result.display.empty()) return;
  std::string text;
  runtime::append_json(result.display, false, text);
  const json display = json::parse(text, nullptr, false);
  if (!display.is_object()) return;
  if (const auto plain = display.find("text/plain"); plain != display.end() && plain->is_string())
    into.value = bounded(plain->get<std::string>(), bounds.text);
  size_t room = bounds.images;
  for (const std::string_view type : kImages) {
    const auto shown = display.find(std::string(type));
    if (shown == display.end()) continue;
    std::string base64 = base64_of(*shown);
    if (!is_base64(base64)) continue;
    if (base64.size() > room) {
      ++into.images_left_out;
      continue;
    }
    room -= base64.size();
    into.images.push_back({std::string(type), std::move(base64)});
  }
}

Bounded output_of(const runtime::Output& output, size_t most) {
  const uint64_t kept = output.bytes.size();
  return bounded(output.bytes, most, output.total > kept ? output.total - kept : 0);
}

runtime::Exception within(const runtime::Exception& said, size_t most) {
  return {bounded(said.type, most).text, bounded(said.message, most).text,
          bounded(said.traceback, most).text, said.line};
}

}  // namespace

Bounded bounded(std::string_view bytes, size_t most, uint64_t more) {
  const auto note = [](uint64_t count) {
    return fmt::format("\n[... {} bytes are left out here ...]\n", count);
  };
  if (bytes.size() <= most) {
    Bounded whole{runtime::repaired_utf8(bytes), more};
    if (more > 0) whole.text += note(more);
    return whole;
  }
  const std::string_view head = bytes.substr(0, most / 4 * 3);
  const std::string_view tail = bytes.substr(bytes.size() - most / 4);
  const uint64_t middle = bytes.size() - head.size() - tail.size();
  Bounded cut{runtime::repaired_utf8(head), middle + more};
  cut.text += note(middle) + runtime::repaired_utf8(tail);
  if (more > 0) cut.text += note(more);
  return cut;
}

std::string_view image_type(std::string_view bytes) {
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return kImages[0];
  if (bytes.starts_with("\xff\xd8\xff")) return kImages[1];
  return {};
}

Outcome outcome_of(const runtime::JobResult& result, const Bounds& bounds) {
  Outcome outcome;
  outcome.label = runtime::repaired_utf8(result.verdict.label());
  outcome.ok = result.verdict.ok();
  outcome.out = output_of(result.out, bounds.text);
  outcome.err = output_of(result.err, bounds.text);
  if (result.exception) outcome.exception = within(*result.exception, bounds.text);
  const bool is_its_own =
      outcome.ok || (result.verdict.by == runtime::By::kProgram && outcome.exception.has_value());
  if (!is_its_own) {
    constexpr size_t kMostOfWhy = 1000;
    outcome.why = bounded(sentence_of(result.verdict), kMostOfWhy).text;
  }
  read_display(result, bounds, outcome);
  if (bounds.wants_result && !result.value.empty())
    runtime::append_json(result.value, result.array, outcome.result);
  return outcome;
}

}  // namespace service::mcp
