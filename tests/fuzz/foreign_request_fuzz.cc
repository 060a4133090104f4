// Requests of foreign APIs: any bytes. The first says of which. What is read is a job within its
// bounds, or an answer that is JSON and says why not.

#include <nlohmann/json.hpp>

#include "service/foreign/dify.h"
#include "service/foreign/piston.h"
#include "service/foreign/sandbox_fusion.h"
#include "tests/fuzz/input.h"

namespace {

void check_refusal(const service::Response& refused) {
  VERIFY(refused.status >= 400 && refused.status < 600);
  VERIFY(!nlohmann::json::parse(refused.body, nullptr, false).is_discarded());
}

void check_job(const runtime::Job& job) {
  VERIFY(job.limits.wall.count() > 0 && job.limits.cpu.count() > 0);
  for (const runtime::InputFile& file : job.files)
    VERIFY(!file.path.empty() && file.path.front() != '/');
}

template <typename Read>
void check(const Read& read) {
  if (const auto* refused = std::get_if<service::Response>(&read)) return check_refusal(*refused);
  check_job(std::get<runtime::Job>(read));
}

void piston_request(std::string_view body) {
  static const std::vector<service::piston::Language> kLanguages = {
      {"python", {3, 11, 2}, {"py"}, false}, {"cpp", {12, 2, 0}, {"c++"}, true}};
  service::Request request;
  request.headers = {{"content-type", "application/json"}};
  request.body = body;
  const auto read = service::piston::read_execute(request, kLanguages, {}, {});
  if (const auto* refused = std::get_if<service::Response>(&read)) return check_refusal(*refused);
  const auto& execution = std::get<service::piston::Execution>(read);
  check_job(execution.job);
  VERIFY(execution.job.limits.wall <= sys::Milliseconds(3000));
  VERIFY(execution.job.stdin_bytes.ends_with('\n'));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  const uint8_t api = input.byte();
  const std::string_view body = input.rest();
  switch (api % 3) {
    case 0:
      check(service::sandbox_fusion::read_run_code(body, {}));
      break;
    case 1:
      piston_request(body);
      break;
    default:
      check(service::dify::read_run(body, {}));
  }
  return 0;
}
