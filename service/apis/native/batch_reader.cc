#include "service/apis/native/batch_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/json/json_reader.h"
#include "runtime/json/result/result_json.h"
#include "runtime/values/utf8.h"

namespace service {

using sys::Error;
using sys::Result;

namespace {

constexpr size_t kIdShown = 100;

// Tells whether the body has the second form: its first key is one of these two, which no job has.
bool is_object_form(std::string_view body) {
  runtime::JsonReader in(body);
  std::string key;
  return in.peek() == runtime::JsonReader::Type::kObject && in.open_object() &&
         in.next_key(true, key) && (key == "jobs" || key == "defaults");
}

bool read_elements(runtime::JsonReader& in, std::string& lines) {
  if (in.peek() != runtime::JsonReader::Type::kArray) {
    in.expected("a list of jobs");
    return in.at_field("jobs");
  }
  in.open_array();
  for (bool first = true; in.next_item(first); first = false) {
    if (!in.skip(&lines)) return false;
    lines += '\n';
  }
  return in.ok();
}

}  // namespace

Result<BatchBody> BatchBody::read(std::string_view text) {
  BatchBody body;
  if (!is_object_form(text)) return body;
  body.is_object = true;
  runtime::JsonReader in(text);
  in.open_object();
  std::string key, defaults;
  for (bool first = true; in.next_key(first, key); first = false) {
    if (key == "jobs") {
      if (!read_elements(in, body.elements)) return in.error();
    } else if (key == "defaults") {
      defaults.clear();
      if (!in.skip(&defaults)) return in.error();
    } else {
      return Error::because("unknown field " + key + "; there are defaults and jobs");
    }
  }
  if (!in.ok() || !in.finish()) return in.error();
  if (!defaults.empty()) {
    Result<runtime::JobDefaults> read = runtime::parse_defaults(defaults);
    if (!read) return std::move(read).error().context("defaults");
    body.defaults = std::move(read).value();
    body.defaults_text = std::move(defaults);
  }
  return body;
}

BatchReader::BatchReader(BatchBody body, std::string_view text, runtime::JobDefaults defaults,
                         PartsAre parts)
    : parts_are_(parts),
      body_(std::move(body)),
      defaults_(body_.defaults ? *body_.defaults : std::move(defaults)),
      left_(body_.is_object ? std::string_view(body_.elements) : text) {}

std::string_view BatchReader::take_line() {
  const size_t end = std::min(left_.find('\n'), left_.size());
  const std::string_view line = left_.substr(0, end);
  left_.remove_prefix(std::min(end + 1, left_.size()));
  ++number_;
  return line;
}

size_t BatchReader::next_bytes() const {
  const size_t end = std::min(left_.find('\n'), left_.size());
  const auto sizes = runtime::announced_parts(left_.substr(0, end));
  return sizes && !sizes->empty() ? left_.size() : end;
}

// The reason why they are refused; empty: they are not.
std::string BatchReader::take_parts(const std::vector<uint64_t>& sizes, runtime::Parts& parts) {
  parts.clear();
  std::string_view raw =
      left_.substr(0, std::min<uint64_t>(runtime::total_of(sizes), left_.size()));
  left_.remove_prefix(raw.size());
  if (parts_are_ == PartsAre::kRefused && !sizes.empty())
    return "parts: only in a batch that is answered as it runs";
  if (auto objection = runtime::objection_to_parts(sizes)) return *objection;
  if (raw.size() < runtime::total_of(sizes)) return "parts: the body ends within them";
  for (const uint64_t size : sizes) {
    parts.emplace_back(raw.substr(0, size));
    raw.remove_prefix(size);
  }
  wants_parts_ = parts_are_ == PartsAre::kRead;
  return {};
}

std::optional<BatchReader::Item> BatchReader::next() {
  std::string_view line;
  runtime::Parts parts;
  std::string objection;
  while (line.find_first_not_of(" \t\r") == line.npos) {
    if (left_.empty()) break;
    line = take_line();
    const auto sizes = runtime::announced_parts(line);
    if (!sizes) continue;
    objection = take_parts(*sizes, parts);
    if (objection.empty() || !left_.empty()) line = {};
  }
  if (!objection.empty()) return bad_job(line, objection, runtime::identity_of(line));
  if (line.find_first_not_of(" \t\r") == line.npos) return std::nullopt;
  Result<runtime::Job> job = runtime::parse_job(line, defaults_, std::move(parts));
  if (!job) return bad_job(line, job.error().text(), runtime::identity_of(line));
  if (job->id.empty()) {
    job->id = generated_id();
  } else if (!ids_.insert(job->id).second) {
    const std::string id(runtime::utf8_head(job->id, kIdShown));
    return bad_job(line, fmt::format("id: \"{}\" is there twice", id),
                   {.id = "", .tag = std::move(job->tag)});
  }
  return Item{job->id, line, std::move(job).value()};
}

BatchReader::Item BatchReader::bad_job(std::string_view line, std::string message,
                                       runtime::JobIdentity identity) {
  const bool own = !identity.id.empty() && ids_.insert(identity.id).second;
  std::string id = own ? std::move(identity.id) : generated_id();
  std::string text;
  runtime::append_result(runtime::bad_job(number_, id, std::move(identity.tag), std::move(message)),
                         text);
  return {std::move(id), line, std::move(text)};
}

// Makes ids as `zygo batch` makes them.
std::string BatchReader::generated_id() {
  std::string id = fmt::format("job-{}", number_);
  while (!ids_.insert(id).second) id += "-generated";
  return id;
}

}  // namespace service
