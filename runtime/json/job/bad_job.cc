// The identity and the result of a line that is no job.

#include <algorithm>

#include "runtime/json/job/job_json.h"
#include "runtime/json/json_reader.h"

namespace runtime {

namespace {

// "limits.cpu_ms" out of "limits.cpu_ms: expected an integer, got 1.5", or out of "unknown field
// limits.cpu_ms; did you mean .."; "calls[0].kwords" out of "calls[0]: unknown field kwords; ..".
// Quoted keys may hold anything, so what they hold is passed over.
std::string unknown_field_in(std::string_view message) {
  constexpr std::string_view kUnknown = "unknown field ";
  if (!message.starts_with(kUnknown)) return {};
  message.remove_prefix(kUnknown.size());
  return std::string(message.substr(0, message.find_first_of("; ")));
}

std::string path_in(std::string_view message) {
  if (std::string field = unknown_field_in(message); !field.empty()) return field;
  bool quoted = false;
  for (size_t i = 0; i < message.size(); ++i) {
    if (message[i] == '\\' && quoted) {
      ++i;
    } else if (message[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && message[i] == ' ') {
      return {};
    } else if (!quoted && message[i] == ':') {
      std::string field = unknown_field_in(message.substr(std::min(i + 2, message.size())));
      return std::string(message.substr(0, i)) + (field.empty() ? "" : "." + field);
    }
  }
  return {};
}

}  // namespace

JobIdentity identity_of(std::string_view line) {
  constexpr size_t kLongest = 256;
  constexpr size_t kLongestTag = size_t{64} << 10;
  JobIdentity identity;
  if (line.size() > kMaxJobBytes) return identity;
  JsonReader in(line);
  if (in.peek() != JsonReader::Type::kObject) return identity;
  in.open_object();
  std::string key, value;
  for (bool first = true; in.next_key(first, key); first = false) {
    value.clear();
    if (key == "id" && in.peek() == JsonReader::Type::kString) {
      if (in.read_string(value) && value.size() <= kLongest) identity.id = value;
    } else if (in.skip(key == "tag" ? &value : nullptr)) {
      if (key == "tag" && value.size() <= kLongestTag) identity.tag = value;
    }
  }
  return identity;
}

JobResult bad_job(size_t line_number, std::string id, std::string tag, std::string message) {
  JobResult result;
  result.id = std::move(id);
  if (!tag.empty()) result.tag = std::move(tag);
  result.verdict.outcome = Outcome::kBadJob;
  result.verdict.by = By::kCaller;
  std::string path = path_in(message);
  result.verdict.detail.emplace_back("line", static_cast<int64_t>(line_number));
  result.verdict.detail.emplace_back("message", std::move(message));
  if (!path.empty()) result.verdict.detail.emplace_back("path", std::move(path));
  return result;
}

}  // namespace runtime
