#include "tools/cli/run/verdict_text.h"

#include <fmt/format.h>

#include <vector>

#include "tools/cli/options.h"
#include "tools/cli/units.h"

namespace cli {
namespace {

using runtime::Family;
using runtime::Outcome;

constexpr size_t kLongestText = 300;  // characters of a message, a path, an address

std::string plain(const runtime::DetailValue& value) {
  struct Writer {
    std::string operator()(const std::string& text) const {
      return clip(escape_controls(text, Lines::kEscape), kLongestText);
    }
    std::string operator()(int64_t number) const { return fmt::format("{}", number); }
    std::string operator()(double number) const { return fmt::format("{}", number); }
    std::string operator()(bool yes) const { return yes ? "yes" : "no"; }
  };
  return std::visit(Writer{}, value);
}

// A number with the unit that the key's ending names: limit_bytes, measured_ms, limit_count.
std::string measured(std::string_view key, const runtime::DetailValue& value) {
  const auto* number = std::get_if<int64_t>(&value);
  if (number == nullptr) return plain(value);
  if (key.ends_with("_ms")) return fmt::format("{} ms", *number);
  if (key.ends_with("_bytes") && *number >= 0) return format_size(static_cast<uint64_t>(*number));
  return fmt::format("{}", *number);
}

const runtime::DetailValue* find(const runtime::Detail& detail, std::string_view key) {
  for (const auto& [name, value] : detail) {
    if (name == key) return &value;
  }
  return nullptr;
}

bool says(const runtime::DetailValue& value, int64_t number) {
  const auto* held = std::get_if<int64_t>(&value);
  return held != nullptr && *held == number;
}

// One pair in words; empty when it says nothing to a reader.
std::string phrase(std::string_view key, const runtime::DetailValue& value, bool has_limit) {
  if (key.starts_with("limit_") && has_limit) return {};  // told together with "limit"
  if (key.starts_with("measured_")) return "used " + measured(key, value);
  if (key.starts_with("peak_")) return "peak " + measured(key, value);
  if (key == "contended")
    return std::get_if<bool>(&value) && std::get<bool>(value) ? "contended" : "";
  if (key == "line") return says(value, -1) ? "" : "line " + plain(value);
  if (key == "errno") return says(value, 0) ? "" : "errno " + plain(value);
  if (key == "count") return says(value, 1) ? "" : plain(value) + " attempts";
  if (key == "code") return "exit code " + plain(value);
  if (key == "source") return "by " + plain(value);
  if (key == "argument" || key == "where") return "at " + plain(value);
  for (std::string_view bare : {"message", "reason", "signal", "syscall", "operation"}) {
    if (key == bare) return plain(value);
  }
  if (key == "policy") return {};
  return fmt::format("{} {}", escape_controls(key, Lines::kEscape), measured(key, value));
}

std::string limit_phrase(const runtime::Detail& detail, const runtime::DetailValue& limit) {
  std::string text = plain(limit) + " limit";
  for (const auto& [key, value] : detail) {
    if (key.starts_with("limit_")) text += " " + measured(key, value);
  }
  return text;
}

std::string detail_text(const runtime::Detail& detail) {
  const runtime::DetailValue* limit = find(detail, "limit");
  std::string text;
  for (const auto& [key, value] : detail) {
    std::string next =
        &value == limit ? limit_phrase(detail, value) : phrase(key, value, limit != nullptr);
    if (next.empty()) continue;
    text += (text.empty() ? "" : ", ") + next;
  }
  return text;
}

}  // namespace

int exit_code(const runtime::JobResult& result) {
  const int own = result.exit && !result.exit->signalled ? result.exit->code : 0;
  switch (family_of(result.verdict.outcome)) {
    case Family::kOk:
      return own;
    case Family::kFailed:
      if (result.verdict.outcome == Outcome::kSignalled)
        return 128 + (result.exit ? result.exit->code : 0);
      return result.verdict.outcome == Outcome::kNonZeroExit && own != 0 ? own : 1;
    case Family::kWrongAnswer:
    case Family::kNoProgram:
      return 1;
    case Family::kTime:
      return 124;
    case Family::kPolicy:
      return 126;
    case Family::kMemory:
    case Family::kOutput:
    case Family::kOtherLimit:
      return 137;
    case Family::kCancelled:
      return kExitInterrupted;
    case Family::kTrouble:
      break;
  }
  return kExitSandbox;
}

int exit_code_of_json(const runtime::JobResult& result) {
  if (is_trouble(result.verdict.outcome)) return kExitSandbox;
  return result.verdict.outcome == Outcome::kCancelled ? kExitInterrupted : kExitOk;
}

bool is_trouble(Outcome outcome) { return family_of(outcome) == Family::kTrouble; }

Colour colour_of(Outcome outcome) {
  if (outcome == Outcome::kOk) return Colour::kGreen;
  return outcome == Outcome::kCancelled ? Colour::kYellow : Colour::kRed;
}

std::string verdict_line(const runtime::JobResult& result, const Style& style) {
  const runtime::Verdict& verdict = result.verdict;
  std::string label = clip(escape_controls(verdict.label(), Lines::kEscape), kLongestText);
  std::string line = style.paint(colour_of(verdict.outcome), label);
  bool told_by_exception = verdict.outcome == Outcome::kException && result.exception;
  if (told_by_exception && !result.exception->message.empty()) {
    line += ": " + plain(runtime::DetailValue(result.exception->message));
  }
  std::string detail = detail_text(verdict.detail);
  if (!detail.empty()) line += fmt::format(" ({})", detail);
  return line;
}

}  // namespace cli
