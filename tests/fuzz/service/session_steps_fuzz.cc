// Bodies of requests about sessions: any bytes. A step that was read can be read again from what a
// log keeps of it, and is the same job; steps to try are steps.

#include <nlohmann/json.hpp>

#include "service/sessions/step_reader.h"
#include "tests/fuzz/input.h"

namespace {

const std::string kNode = "n-1";

void check_step(const service::ReadStep& step, const runtime::JobDefaults& session) {
  const auto kept = nlohmann::json::parse(step.body, nullptr, false);
  VERIFY(kept.is_object());
  for (const std::string_view field : service::kOfLog) VERIFY(!kept.contains(std::string(field)));
  const auto again = service::read_step(step.body, session, kNode);
  VERIFY(again.ok());
  VERIFY(again->body == step.body);
  VERIFY(static_cast<const runtime::JobSpec&>(again->job) == step.job);
  VERIFY(step.job.session == kNode);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string body(reinterpret_cast<const char*>(data), size);
  runtime::JobDefaults session;
  if (const auto begun = service::read_beginning(body, {})) {
    VERIFY(begun->job.session == runtime::kNewSession);
    session = service::defaults_behind(begun->job);
  }
  if (const auto step = service::read_step(body, session, kNode)) check_step(*step, session);
  const auto many = service::read_try(body, session, {}, kNode);
  if (!many) return 0;
  VERIFY(!many->steps.empty() && many->steps.size() <= service::TryBody::kMostSteps);
  for (const std::string& each : many->steps) {
    const auto step = service::read_step(each, session, kNode);
    VERIFY(step.ok());
    check_step(*step, session);
  }
  if (many->score) VERIFY(many->score->mode == shim::Mode::kCall && !many->score->is_step());
  return 0;
}
