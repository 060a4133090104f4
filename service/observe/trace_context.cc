#include "service/observe/trace_context.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>

#include "runtime/values/json_text.h"
#include "sandbox/sys/result.h"

namespace service {

namespace {

constexpr size_t kLongestState = 512, kMostMembers = 32;  // what everybody must pass on
constexpr unsigned kKnownFlags = 0x03;                    // sampled, random

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_id(std::string_view text) {
  return is_hex(text) && text.find_first_not_of('0') != text.npos;
}

unsigned value_of(char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10); }

// "00-" trace "-" parent "-" flags. A later version may have more behind them.
bool read_parent(std::string_view text, TraceContext& into) {
  constexpr size_t kSize = 55;
  if (text.size() < kSize || text[2] != '-' || text[35] != '-' || text[52] != '-') return false;
  const std::string_view version = text.substr(0, 2), flags = text.substr(53, 2);
  if (!is_hex(version) || version == "ff" || !is_hex(flags)) return false;
  if (text.size() > kSize && (version == "00" || text[kSize] != '-')) return false;
  into.trace_id = text.substr(3, 32);
  into.parent_id = text.substr(36, 16);
  into.flags = (value_of(flags[0]) * 16 + value_of(flags[1])) & kKnownFlags;
  return is_id(into.trace_id) && is_id(into.parent_id);
}

// key=value,key=value in printable ASCII; what the members mean is their makers' affair.
bool is_state(std::string_view text) {
  if (text.empty() || text.size() > kLongestState) return false;
  if (!std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; }))
    return false;
  size_t members = 0;
  for (size_t at = 0; at <= text.size(); ++members) {
    const size_t end = std::min(text.find(',', at), text.size());
    const size_t equals = text.substr(at, end - at).find('=');
    if (equals == text.npos || equals == 0) return false;
    at = end + 1;
  }
  return members <= kMostMembers;
}

std::string new_span_id() {
  unsigned char bytes[8];
  std::string id;
  do {
    VERIFY(::getrandom(bytes, sizeof bytes, 0) == static_cast<ssize_t>(sizeof bytes));
    id.clear();
    for (unsigned char byte : bytes) id += fmt::format("{:02x}", byte);
  } while (!is_id(id));
  return id;
}

}  // namespace

std::string TraceContext::json() const {
  std::string text = fmt::format(R"({{"trace_id":"{}","parent_id":"{}","span_id":"{}","flags":{})",
                                 trace_id, parent_id, span_id, flags);
  if (!state.empty()) {
    text += ",\"state\":";
    runtime::append_json_string(state, text);
  }
  return text + "}";
}

std::string TraceContext::response() const {
  return fmt::format("00-{}-{}-{:02x}", trace_id, span_id, flags);
}

std::optional<TraceContext> read_trace_context(const Headers& headers) {
  TraceContext trace;
  size_t parents = 0;
  for (const auto& [name, value] : headers) {
    if (name == "tracestate" && !value.empty())
      trace.state += (trace.state.empty() ? "" : ",") + value;
    if (name != "traceparent") continue;
    if (++parents > 1 || !read_parent(value, trace)) return std::nullopt;
  }
  if (parents == 0) return std::nullopt;
  if (!is_state(trace.state)) trace.state.clear();
  trace.span_id = new_span_id();
  return trace;
}

std::optional<TraceContext> read_trace_parent(const std::string& text) {
  return read_trace_context({{"traceparent", text}});
}

void add_service_object(const std::optional<TraceContext>& trace, std::string& result) {
  if (!trace || !result.ends_with('}')) return;
  result.pop_back();
  result += ",\"service\":{\"trace\":" + trace->json() + "}}";
}

}  // namespace service
