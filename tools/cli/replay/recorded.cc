#include "tools/cli/replay/recorded.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstring>

#include "runtime/json/job/job_fields.h"
#include "runtime/json/job/job_json.h"
#include "runtime/json/job/job_record.h"
#include "runtime/json/json_reader.h"
#include "runtime/json/result/result_reader.h"
#include "sandbox/sys/file.h"
#include "tools/cli/batch/line_reader.h"

namespace cli {
namespace {

using sys::Error;
using sys::Result;

// By the table of fields, as the record has it.
bool asks_for_fixed(const runtime::JobSpec& job) {
  const int index = runtime::field_index("determinism.mode");
  if (index < 0) return false;
  const runtime::NumberAccess& mode = runtime::job_fields()[static_cast<size_t>(index)].number;
  return mode.get != nullptr && mode.get(job) != mode.get(runtime::JobSpec{});
}

// Nobody waits for it, and its result needs no record.
Result<runtime::Job> job_of(const runtime::JobResult& result) {
  const runtime::RecordedJob& said = *result.record->job;
  Result<runtime::Job> job = runtime::parse_job(said.json, {});
  if (!job) return Error::because("record.job: " + job.error().text());
  if (const auto wrong = runtime::objection_to_record(said, *job))
    return Error::because("record." + *wrong);
  job->id = result.id;
  job->record = false;
  job->recorded = nullptr;
  job->deadline.reset();
  return job;
}

Error at(const std::string& name, size_t line, const std::string& why) {
  return Error::because(fmt::format("{}:{}: {}", name, line, why));
}

// One object may stand on several lines, as other programs write it.
bool is_one_value(std::string_view text) {
  runtime::JsonReader in(text);
  return in.skip() && in.finish();
}

}  // namespace

std::string obstacle_of(const runtime::Verdict& verdict) {
  const bool is_of_program =
      verdict.by != runtime::By::kCaller && verdict.by != runtime::By::kSandbox;
  return is_of_program ? "" : verdict.label() + " says nothing of the program";
}

Result<Recorded> parse_recorded(std::string_view text) {
  Recorded made;
  made.result = TRY(runtime::parse_result(text));
  made.obstacle = obstacle_of(made.result.verdict);
  if (!made.result.record && made.obstacle.empty()) {
    return Error::because(
        "record: required; run jobs with \"record\": true, zygo run --json --record or zygo batch "
        "--record");
  }
  if (!made.result.record) return made;
  made.job = TRY(job_of(made.result));
  made.fixed = asks_for_fixed(made.job);
  return made;
}

Result<std::vector<Recorded>> parse_all_recorded(const std::string& name, std::string_view text) {
  std::vector<Recorded> all;
  auto add = [&all, &name](std::string_view result, size_t line) -> Result<void> {
    Result<Recorded> one = parse_recorded(result);
    if (!one) return at(name, line, one.error().text());
    one->place = fmt::format("{}:{}", name, line);
    all.push_back(std::move(one).value());
    return {};
  };
  LineReader reader(runtime::kMaxResultBytes);
  reader.append(text);
  reader.finish();
  while (const std::optional<Line> line = reader.next()) {
    if (line->too_long) return at(name, line->number, "longer than 1 GiB");
    const bool is_whole = !all.empty() || is_one_value(line->text) || !is_one_value(text);
    TRY(add(is_whole ? line->text : text, line->number));
    if (!is_whole) break;
  }
  if (all.empty()) return Error::because(name + ": there is no result in it");
  return all;
}

Result<std::vector<Recorded>> read_recorded(const std::string& path) {
  if (path == "-") return parse_all_recorded("stdin", TRY(sys::read_all(STDIN_FILENO)));
  Result<std::string> text = sys::read_file(path);
  if (!text) {
    const Error& error = text.error();
    return Error::because(path + ": " +
                          (error.code() != 0 ? std::strerror(error.code()) : error.text()));
  }
  return parse_all_recorded(path, *text);
}

}  // namespace cli
