#pragma once
// Bodies of requests about sessions, as jobs. A step has the fields of a job, and is one: what the
// session says holds where the step says nothing. Errors begin with the field's path. Pure; bodies
// are untrusted.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/json/job/job_json.h"
#include "sandbox/sys/result.h"
#include "service/sessions/selection.h"

namespace service {

// What a log adds to a step. A step of a log can be sent again as it is: these are passed over.
inline constexpr std::string_view kOfLog[] = {"node", "parent", "label", "time"};

struct ReadStep {
  runtime::Job job;
  std::string body;  // as it was sent, without white space and what a log adds, and its seed
};

// One that was sent without a seed gets this one, and its log has it.
void give_seed(ReadStep& step, uint64_t seed);
uint64_t new_seed();

// POST /v1/sessions: the first step, at which the fields hold that the session's other steps go on
// with. It needs no source.
sys::Result<ReadStep> read_beginning(std::string_view body, const runtime::JobDefaults& defaults);

// What of the first step holds for those behind it. The rest is in its node: files, variables of
// the environment, what the source defined.
runtime::JobDefaults defaults_behind(const runtime::Job& beginning);

// POST /v1/nodes/{node}/run: a step at this node. With a `func` it is a call, whose function may be
// one that an earlier step has defined.
sys::Result<ReadStep> read_step(std::string_view body, const runtime::JobDefaults& of_session,
                                const std::string& node);

// POST /v1/nodes/{node}/try.
struct TryBody {
  static constexpr size_t kMostSteps = 256;
  std::vector<std::string> steps;  // bodies that read_step() has accepted
  Keep keep;
  // The job that calls the score's function, without its calls.
  std::optional<runtime::Job> score;
};
sys::Result<TryBody> read_try(std::string_view body, const runtime::JobDefaults& of_session,
                              const runtime::JobDefaults& of_service, const std::string& node);

// The calls of a job that calls its function once, with this value (value format; empty: none).
std::string one_call_with(std::string_view value);

}  // namespace service
