#include "tools/cli/certify/corpus.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstring>

#include "runtime/json/json_reader.h"
#include "runtime/json/members.h"
#include "runtime/values/json_text.h"
#include "sandbox/sys/file.h"
#include "tools/cli/batch/line_reader.h"

namespace cli {
namespace {

using runtime::JsonReader;
using sys::Error;
using sys::Result;

constexpr size_t kMostLabels = 100;

struct Halves {
  std::string job;  // the line without the labels
  std::vector<std::string> labels;
};

bool read_labels(JsonReader& in, std::vector<std::string>& labels) {
  if (in.peek() == JsonReader::Type::kString) {
    if (!runtime::read_json(in, labels.emplace_back())) return false;
  } else if (in.peek() == JsonReader::Type::kArray) {
    if (!runtime::read_list(in, labels, kMostLabels)) return false;
  } else {
    return in.expected("a string or a list of strings");
  }
  if (labels.empty()) return in.fail("no label in the list");
  for (const std::string& label : labels) {
    if (label.empty()) return in.fail("a label is empty");
  }
  return true;
}

// The schema of jobs knows no labels, and is strict.
Result<Halves> halves_of(std::string_view line) {
  JsonReader in(line);
  Halves halves{"{", {}};
  if (in.peek() != JsonReader::Type::kObject) {
    in.expected("an object");
    return in.error();
  }
  in.open_object();
  std::string key;
  for (bool first = true; in.next_key(first, key); first = false) {
    if (key == "label") {
      if (!halves.labels.empty()) in.fail("given twice");
      if (!in.ok() || !read_labels(in, halves.labels)) {
        in.at_field("label");
        return in.error();
      }
      continue;
    }
    if (halves.job.size() > 1) halves.job += ',';
    runtime::append_json_string(key, halves.job);
    halves.job += ':';
    if (!in.skip(&halves.job)) return in.error();
  }
  if (!in.ok() || !in.finish()) return in.error();
  if (halves.labels.empty()) return Error::because("label: required");
  halves.job += '}';
  return halves;
}

Error at(const std::string& name, size_t line, const std::string& why) {
  return Error::because(fmt::format("{}:{}: {}", name, line, why));
}

}  // namespace

Result<LabelledJob> parse_labelled(std::string_view line, const runtime::JobDefaults& defaults) {
  Halves halves = TRY(halves_of(line));
  LabelledJob made;
  made.job = TRY(runtime::parse_job(halves.job, defaults));
  made.labels = std::move(halves.labels);
  return made;
}

Result<std::vector<LabelledJob>> parse_corpus(const std::string& name, std::string_view text,
                                              const runtime::JobDefaults& defaults) {
  std::vector<LabelledJob> jobs;
  LineReader reader(runtime::kMaxJobBytes);
  reader.append(text);
  reader.finish();
  while (const std::optional<Line> line = reader.next()) {
    if (line->too_long) {
      return at(name, line->number, fmt::format("longer than {} MiB", runtime::kMaxJobBytes >> 20));
    }
    Result<LabelledJob> job = parse_labelled(line->text, defaults);
    if (!job) return at(name, line->number, job.error().text());
    if (job->job.id.empty()) job->job.id = fmt::format("job-{}", line->number);
    job->place = fmt::format("{}:{}", name, line->number);
    jobs.push_back(std::move(job).value());
  }
  if (jobs.empty()) return Error::because(name + ": there is no job in it");
  return jobs;
}

Result<std::vector<LabelledJob>> read_corpus(const std::string& path,
                                             const runtime::JobDefaults& defaults) {
  if (path == "-") return parse_corpus("stdin", TRY(sys::read_all(STDIN_FILENO)), defaults);
  Result<std::string> text = sys::read_file(path);
  if (!text) {
    const Error& error = text.error();
    return Error::because(path + ": " +
                          (error.code() != 0 ? std::strerror(error.code()) : error.text()));
  }
  return parse_corpus(path, *text, defaults);
}

}  // namespace cli
