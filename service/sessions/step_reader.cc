#include "service/sessions/step_reader.h"

#include <sys/random.h>

#include <algorithm>
#include <utility>

#include "runtime/json/json_reader.h"
#include "runtime/json/members.h"
#include "runtime/values/json_text.h"
#include "runtime/values/value.h"

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

}  // namespace

void give_seed(ReadStep& step, uint64_t seed) {
  if (step.job.seed != 0) return;
  step.job.seed = seed;
  step.body = with(step.body, "\"seed\":" + std::to_string(seed));
}

uint64_t new_seed() {
  uint64_t seed = 0;
  VERIFY(::getrandom(&seed, sizeof seed, 0) == sizeof seed);
  return seed % static_cast<uint64_t>(runtime::FixedMode::kMaxSeed) + 1;
}

namespace {

constexpr Refusal kSaidByPath{"session", "the request itself says where the step goes on from"};
constexpr Refusal kOfItsSession{"tenant", "a step has that of its session"};

}  // namespace

Result<ReadStep> read_beginning(std::string_view body, const runtime::JobDefaults& defaults) {
  const bool is_blank = body.find_first_not_of(" \t\r\n") == body.npos;
  constexpr std::string_view kOfLaterSteps = "the answer tells of no step; later ones may have it";
  Fields fields = TRY(read_fields(
      is_blank ? "{}" : body, {kSaidByPath, {"outputs", kOfLaterSteps}, {"keep", kOfLaterSteps}}));
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

std::string one_call_with(std::string_view value) {
  using shim::Tag;
  runtime::Writer calls;
  calls.container(Tag::kList, 1);
  calls.container(Tag::kList, 2);
  calls.container(Tag::kList, 1);
  value.empty() ? calls.none() : calls.raw(value);
  calls.container(Tag::kDict, 0);
  return calls.take();
}

namespace {

// "steps[3].limits.cpu_ms: expected .." of "limits.cpu_ms: expected ..".
Error within(const std::string& place, const Error& error) {
  const std::string& text = error.text();
  const size_t colon = text.find(": ");
  const bool is_path = colon != text.npos && text.find(' ') > colon && text[0] != '[';
  return Error::because(place + (is_path ? "." : ": ") + text);
}

Result<runtime::Job> read_score(std::string_view body, const runtime::JobDefaults& of_session,
                                const runtime::JobDefaults& of_service) {
  constexpr std::string_view kCalled = "it is called with the value of each step";
  constexpr std::string_view kNot = "not in a score";
  Fields fields = TRY(read_fields(body, {{"inputs", kCalled},
                                         {"calls", kCalled},
                                         {"mode", kCalled},
                                         {"session", kNot},
                                         {"tenant", kNot},
                                         {"tests", kNot},
                                         {"id", kNot},
                                         {"record", kNot}}));
  if (!fields.has_source) return Error::because("source: required");
  if (!fields.has_func) return Error::because("func: required");
  runtime::JobDefaults under = of_service;
  under.job.session.clear();
  under.job.template_name = of_session.job.template_name;
  return runtime::parse_job(with(fields.kept, R"("mode":"call","inputs":[null])"), under);
}

bool read_keep(JsonReader& in, Keep& keep) {
  constexpr std::string_view kWords[] = {"all", "ok", "none"};
  if (in.peek() == Type::kString) {
    const auto word = runtime::read_choice(in, kWords);
    if (word) keep.what = static_cast<Keep::What>(*word);
    return word.has_value();
  }
  if (in.peek() != Type::kObject) return in.expected(R"("all", "ok", "none" or {"best": K})");
  std::string key;
  in.open_object();
  for (bool first = true; in.next_key(first, key); first = false) {
    if (key != "best") return in.fail("unknown field " + key + "; there is best");
    int64_t most = 0;
    if (!runtime::read_integer(in, 1, TryBody::kMostSteps, most)) return in.at_member("best");
    keep = {Keep::What::kBest, static_cast<size_t>(most)};
  }
  if (in.ok() && keep.what != Keep::What::kBest) in.fail("best: required");
  return in.ok();
}

bool read_elements(JsonReader& in, std::vector<std::string>& steps) {
  if (in.peek() != Type::kArray) return in.expected("a list of steps");
  in.open_array();
  while (in.next_item(steps.empty())) {
    if (steps.size() == TryBody::kMostSteps)
      return in.fail("more than " + std::to_string(TryBody::kMostSteps));
    if (!in.skip(&steps.emplace_back())) return in.at_index(steps.size() - 1);
  }
  return in.ok() && (!steps.empty() || in.fail("expected at least one step"));
}

}  // namespace

Result<TryBody> read_try(std::string_view text, const runtime::JobDefaults& of_session,
                         const runtime::JobDefaults& of_service, const std::string& node) {
  JsonReader in(text);
  TryBody body;
  std::string key, score;
  if (in.peek() != Type::kObject) in.expected("an object");
  if (in.ok()) in.open_object();
  for (bool first = true; in.next_key(first, key); first = false) {
    bool good = false;
    if (key == "steps") {
      body.steps.clear();
      good = read_elements(in, body.steps);
    } else if (key == "keep") {
      good = read_keep(in, body.keep);
    } else if (key == "score") {
      score.clear();
      good = in.skip(&score);
    } else {
      return Error::because("unknown field " + key + "; there are steps, keep and score");
    }
    if (!good) {
      in.at_field(key);
      break;
    }
  }
  if (!in.ok() || !in.finish()) return in.error();
  if (body.steps.empty()) return Error::because("steps: required");
  if (body.keep.what == Keep::What::kBest && score.empty())
    return Error::because("score: required, by keep.best");
  for (size_t i = 0; i < body.steps.size(); ++i) {
    const Result<ReadStep> step = read_step(body.steps[i], of_session, node);
    if (!step) return within("steps[" + std::to_string(i) + "]", step.error());
  }
  if (score.empty()) return body;
  Result<runtime::Job> job = read_score(score, of_session, of_service);
  if (!job) return within("score", job.error());
  body.score = std::move(job).value();
  return body;
}

}  // namespace service
