#include "service/observe/failure_note.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "runtime/judging/signal_names.h"
#include "runtime/values/json_text.h"
#include "runtime/values/utf8.h"

namespace service {

namespace {

constexpr size_t kLongestText = 120;

// Made by us, not by the program: all other text may be its own, or a secret of its tests.
constexpr std::array<std::string_view, 10> kOurWords{
    "limit", "source", "syscall", "policy", "signal", "step", "axis", "where", "stage", "reason"};

void append_text(std::string_view text, std::string& out) {
  runtime::append_json_string(runtime::utf8_head(text, kLongestText), out);
}

bool append_value(std::string_view key, const runtime::DetailValue& value, std::string& out) {
  if (const auto* words = std::get_if<std::string>(&value)) {
    if (std::find(kOurWords.begin(), kOurWords.end(), key) == kOurWords.end()) return false;
    append_text(*words, out);
  } else if (const auto* integer = std::get_if<int64_t>(&value)) {
    runtime::append_json_integer(*integer, out);
  } else if (const auto* real = std::get_if<double>(&value)) {
    if (!std::isfinite(*real)) return false;
    runtime::append_json_double(*real, out);
  } else {
    out += std::get<bool>(value) ? "true" : "false";
  }
  return true;
}

std::string detail_of(const runtime::Verdict& verdict) {
  std::string out = "{";
  for (const auto& [key, value] : verdict.detail) {
    std::string pair = out.size() > 1 ? "," : "";
    append_text(key, pair);
    pair += ':';
    if (append_value(key, value, pair)) out += pair;
  }
  return out + "}";
}

}  // namespace

std::string failure_note(const runtime::JobResult& result) {
  if (result.verdict.ok()) return {};
  std::string out = "\"label\":";
  append_text(result.verdict.label(), out);
  out += fmt::format(R"(,"by":"{}","detail":{})", name_of(result.verdict.by),
                     detail_of(result.verdict));
  if (result.exit && result.exit->signalled) {
    out += ",\"signal\":";
    append_text(runtime::signal_name(result.exit->code), out);
  } else if (result.exit) {
    out += fmt::format(",\"code\":{}", result.exit->code);
  }
  const runtime::Usage& used = result.usage;
  return out + fmt::format(R"(,"cpu_us":{},"wall_us":{},"memory_peak_kb":{})", used.cpu_us,
                           used.wall_us, used.memory_peak_bytes / 1024);
}

}  // namespace service
