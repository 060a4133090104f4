#include "runtime/values/parts.h"

#include <charconv>

#include "runtime/values/json_text.h"

namespace runtime {

namespace {

constexpr std::string_view kHead = "{\"parts\":[", kTail = "]}";

}  // namespace

// Every writer of the form writes it in this one way, so it is no matter for a parser of JSON.
std::optional<std::vector<uint64_t>> announced_parts(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  if (!line.starts_with(kHead) || !line.ends_with(kTail)) return std::nullopt;
  line.remove_prefix(kHead.size());
  line.remove_suffix(kTail.size());
  std::vector<uint64_t> sizes;
  for (const char* at = line.begin(); at != line.end();) {
    const auto [end, error] = std::from_chars(at, line.end(), sizes.emplace_back());
    if (error != std::errc() || (end != line.end() && *end != ',')) return std::nullopt;
    at = end == line.end() ? end : end + 1;
    if (at == line.end() && end != line.end()) return std::nullopt;  // a comma, and nothing behind
  }
  return sizes;
}

uint64_t total_of(std::span<const uint64_t> sizes) {
  uint64_t total = 0;
  for (const uint64_t size : sizes) {
    if (__builtin_add_overflow(total, size, &total)) return UINT64_MAX;
  }
  return total;
}

std::optional<std::string> objection_to_parts(std::span<const uint64_t> sizes) {
  if (sizes.size() > kMaxParts) return "parts: more than " + std::to_string(kMaxParts);
  if (total_of(sizes) <= kMaxPartsBytes) return std::nullopt;
  return "parts: longer than " + std::to_string(kMaxPartsBytes >> 20) + " MiB together";
}

void append_announcement(std::span<const std::string_view> parts, std::string& out) {
  out += kHead;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += ',';
    append_json_integer(static_cast<int64_t>(parts[i].size()), out);
  }
  out += kTail;
  out += '\n';
}

}  // namespace runtime
