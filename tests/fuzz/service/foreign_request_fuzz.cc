// Requests of foreign APIs: any bytes. The first says of which. What is read is a job within its
// bounds, or an answer that is JSON and says why not.

#include <nlohmann/json.hpp>

#include "service/apis/dify/dify.h"
#include "service/apis/judge0/request.h"
#include "service/apis/librechat/librechat.h"
#include "service/apis/nemo/nemo.h"
#include "service/apis/open_r1/open_r1.h"
#include "service/apis/piston/piston.h"
#include "service/apis/sandbox_fusion/completion_code.h"
#include "service/apis/sandbox_fusion/jupyter.h"
#include "service/apis/sandbox_fusion/sandbox_fusion.h"
#include "service/apis/sandbox_fusion/submit.h"
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
      {"python", {3, 11, 2}, {"py"}, false, "python"},
      {"cpp", {12, 2, 0}, {"c++"}, true, "cpp"},
      {"cms", {1, 0, 0}, {}, true, "cms-1.0.0", true}};
  service::Request request;
  request.headers = {{"content-type", "application/json"}};
  request.body = body;
  const auto read = service::piston::read_execute(request, kLanguages, {}, {});
  if (const auto* refused = std::get_if<service::Response>(&read)) return check_refusal(*refused);
  const auto& execution = std::get<service::piston::Execution>(read);
  check_job(execution.job);
  VERIFY(execution.job.limits.wall <= sys::Milliseconds(3000));
  VERIFY(execution.job.stdin_bytes.ends_with('\n'));
  VERIFY(execution.language.package != execution.job.source_names.empty());
  for (const std::string& name : execution.job.source_names)
    VERIFY(!name.empty() && name.front() != '/' && name != "..");
  change_packages(request, kLanguages, service::piston::Change::kAdd);
}

void completion(std::string_view body) {
  for (const char* language : {"python", "bash", "cpp"}) {
    const std::string code = service::code_of_completion(body, language);
    VERIFY(code.size() <= body.size() + 1);  // a last line without an end gets one
  }
}

void fusion_submission(std::string_view body) {
  const auto read = service::sandbox_fusion::read_submit(body, {});
  if (const auto* answer = std::get_if<service::Response>(&read)) {
    // No cases need no job.
    if (answer->status != 200) return check_refusal(*answer);
    VERIFY(nlohmann::json::parse(answer->body).at("accepted") == true);
    return;
  }
  const auto& submission = std::get<service::sandbox_fusion::Submission>(read);
  check_job(submission.job);
  VERIFY(!submission.job.tests.empty() && submission.cases);
  for (const runtime::TestCase& test : submission.job.tests)
    VERIFY(test.expect && test.comparator == runtime::Comparator::kAlike);
}

void batch_of_scripts(std::string_view body) {
  auto read = service::open_r1::read_batch(body);
  if (const auto* refused = std::get_if<service::Response>(&read)) return check_refusal(*refused);
  auto& batch = std::get<service::open_r1::Batch>(read);
  VERIFY(batch.scripts.size() == batch.languages.size());
  for (size_t i = 0; i < batch.scripts.size(); ++i) {
    const auto made = service::open_r1::job_of(batch, i, {});
    if (const auto* job = std::get_if<runtime::Job>(&made)) {
      check_job(*job);
    } else {
      VERIFY(!std::get<std::string>(made).empty());
    }
  }
}

void nemo_execution(std::string_view body) {
  service::Request request;
  request.body = body;
  const auto read = service::nemo::read_execute(request, {});
  if (const auto* refused = std::get_if<service::Response>(&read)) return check_refusal(*refused);
  const auto& execution = std::get<service::nemo::Execution>(read);
  check_job(execution.job);
  VERIFY(!execution.wish.seconds.empty());
}

void librechat_execution(std::string_view body) {
  const auto find = [](const service::librechat::FileRef& ref) {
    return ref.id.size() % 2 == 0 ? nullptr
                                  : std::make_shared<const service::StoredFile>(
                                        service::StoredFile{"", ref.name, "content"});
  };
  const auto read = service::librechat::read_exec(body, find, [](uint64_t) { return true; }, {});
  if (const auto* refused = std::get_if<service::Response>(&read)) return check_refusal(*refused);
  const auto& execution = std::get<service::librechat::Execution>(read);
  check_job(execution.job);
  VERIFY(execution.job.files.size() == execution.wish.given.size());
}

void check_submission(const service::judge0::ReadSubmission& read) {
  using service::judge0::NewSubmission;
  if (const auto* objections = std::get_if<service::judge0::Objections>(&read)) {
    VERIFY(!objections->empty());
    return check_refusal(service::judge0::objections_response(*objections));
  }
  const auto& made = std::get<NewSubmission>(read);
  check_job(made.job);
  VERIFY(made.job.limits.cpu <= sys::Milliseconds(20'000) ||
         made.job.limits.cpu.count() == 86'400'000);
  VERIFY(made.job.limits.wall <= sys::Milliseconds(20'000));
  VERIFY(made.job.limits.memory.count <= uint64_t{512'000} << 10);
  VERIFY(made.job.compiler_flags.size() <= 64);
}

void judge0_submission(std::string_view body) {
  using service::judge0::Encoding;
  static const std::vector<service::judge0::Language> kLanguages = {
      {.id = 44, .template_name = "bash", .script = "exec ./a.out", .file = "a.out"},
      {.id = 50, .template_name = "c", .is_compiled = true, .flags = {"-O0"}},
      {.id = 71, .template_name = "python"}};
  for (const Encoding encoding : {Encoding::kPlain, Encoding::kBase64}) {
    const auto one = service::judge0::read_create(body, encoding, kLanguages, {});
    if (const auto* refused = std::get_if<service::Response>(&one)) {
      check_refusal(*refused);
    } else {
      check_submission(std::get<service::judge0::ReadSubmission>(one));
    }
    const auto batch = service::judge0::read_batch(body, encoding, kLanguages, {});
    if (const auto* refused = std::get_if<service::Response>(&batch)) {
      check_refusal(*refused);
      continue;
    }
    for (const auto& each : std::get<std::vector<service::judge0::ReadSubmission>>(batch))
      check_submission(each);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  const uint8_t api = input.byte();
  const std::string_view body = input.rest();
  switch (api % 10) {
    case 0:
      check(service::sandbox_fusion::read_run_code(body, {}));
      break;
    case 1:
      piston_request(body);
      break;
    case 2:
      check(service::dify::read_run(body, {}));
      break;
    case 3:
      fusion_submission(body);
      break;
    case 4:
      check(service::sandbox_fusion::read_run_jupyter(body, {}));
      break;
    case 5:
      completion(body);
      break;
    case 6:
      batch_of_scripts(body);
      break;
    case 7:
      nemo_execution(body);
      break;
    case 8:
      librechat_execution(body);
      break;
    default:
      judge0_submission(body);
  }
  return 0;
}
