#include "service/sessions/step_reader.h"

#include <algorithm>
#include <utility>

#include "runtime/json/json_reader.h"
#include "runtime/values/json_text.h"

namespace service {

using runtime::JsonReader;
using sys::Error;
using sys::Result;

namespace {

using Type = JsonReader::Type;

struct Refusal {
  std::string_view field, why;
};

// An object with the fields of a job, a field after the other.
struct Fields {
  std::string kept;  // the object, without white space and the fields of a log
  bool has_source = false, has_func = false, has_mode = false;
};

bool is_of_log(std::string_view field) {
  return std::ranges::find(kOfLog, field) != std::end(kOfLog);
}

void add_field(std::string_view field, std::string_view value, std::string& object) {
  object += object.size() > 1 ? "," : "";
  runtime::append_json_string(field, object);
  object += ':';
  object += value;
}

// `refused`: fields that a job has, but not here.
Result<Fields> read_fields(std::string_view body, std::initializer_list<Refusal> refused) {
  JsonReader in(body);
  Fields fields;
  fields.kept = "{";
  if (in.peek() != Type::kObject) in.expected("an object");
  std::string key, value;
  if (in.ok()) in.open_object();
  for (bool first = true; in.next_key(first, key); first = false) {
    const auto refusal = std::ranges::find(refused, std::string_view(key), &Refusal::field);
    if (refusal != refused.end()) {
      in.fail(std::string(refusal->why));
      in.at_field(key);
      break;
    }
    value.clear();
    if (!in.skip(&value)) break;
    fields.has_source |= key == "source";
    fields.has_func |= key == "func";
    fields.has_mode |= key == "mode";
    if (!is_of_log(key)) add_field(key, value, fields.kept);
  }
  if (!in.ok() || !in.finish()) return in.error();
  fields.kept += '}';
  return fields;
}

// The object with more fields behind its own.
std::string with(const std::string& object, std::string_view more) {
  std::string all = object.substr(0, object.size() - 1);
  if (all.size() > 1 && !more.empty()) all += ',';
  return all.append(more) + '}';
}

constexpr Refusal kSaidByPath{"session", "the request itself says where the step goes on from"};
constexpr Refusal kOfItsSession{"tenant", "a step has that of its session"};

}  // namespace

Result<ReadStep> read_beginning(std::string_view body, const runtime::JobDefaults& defaults) {
  const bool is_blank = body.find_first_not_of(" \t\r\n") == body.npos;
  Fields fields = TRY(read_fields(is_blank ? "{}" : body, {kSaidByPath}));
  std::string more;
  if (!fields.has_source) more = R"("source":"")";
  if (fields.has_func && !fields.has_mode)
    more += more.empty() ? R"("mode":"call")" : R"(,"mode":"call")";
  runtime::JobDefaults under = defaults;
  under.job.session = runtime::kNewSession;
  // Of the operator's defaults, what no step can have is for the other jobs.
  under.job.tests.clear();
  under.job.outputs.clear();
  under.job.determinism_runs = 1;
  under.job.fixed = {};
  return ReadStep{TRY(runtime::parse_job(with(fields.kept, more), under)), std::move(fields.kept)};
}

runtime::JobDefaults defaults_behind(const runtime::Job& beginning) {
  runtime::JobDefaults behind;
  runtime::Job& job = behind.job;
  job.template_name = beginning.template_name;
  job.array = beginning.array;
  job.limits = beginning.limits;
  job.policy = beginning.policy;
  job.priority = beginning.priority;
  job.deadline = beginning.deadline;
  job.record = beginning.record;
  return behind;
}

Result<ReadStep> read_step(std::string_view body, const runtime::JobDefaults& of_session,
                           const std::string& node) {
  Fields fields = TRY(read_fields(body, {kSaidByPath, kOfItsSession}));
  runtime::JobDefaults under = of_session;
  under.job.session = node;
  const bool calls = fields.has_func && !fields.has_mode;
  Result<runtime::Job> job =
      runtime::parse_job(with(fields.kept, calls ? R"("mode":"call")" : ""), under);
  if (!job) return std::move(job).error();
  if (job->template_name != of_session.job.template_name)
    return Error::because("template: a step has that of its session, " +
                          of_session.job.template_name);
  if (job->policy.profile != of_session.job.policy.profile)
    return Error::because("policy.profile: a step has that of its session");
  return ReadStep{std::move(job).value(), std::move(fields.kept)};
}

}  // namespace service
