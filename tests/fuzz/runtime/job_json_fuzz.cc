// Job lines of a hostile caller: an error is one sentence, a job makes a well-formed request, and
// our reader of JSON agrees with the library about what JSON is.

#include <nlohmann/json.hpp>

#include "runtime/json/job/job_json.h"
#include "runtime/json/job/job_writer.h"
#include "runtime/json/json_reader.h"
#include "runtime/json/result/result_json.h"
#include "runtime/values/value.h"

namespace {

// The library has no bound on depth, takes numbers that we call out of range, takes a NUL for the
// end of its input, and passes over a byte order mark. All of that is ours to refuse.
void compare_with_library(std::string_view input) {
  if (input.find('\0') != std::string_view::npos || input.starts_with("\xEF\xBB\xBF")) return;
  runtime::JsonReader reader(input);
  std::string compact;
  const bool ours = reader.skip(&compact) && reader.finish();
  if (!ours && !reader.error().text().starts_with("not JSON")) return;
  VERIFY(ours == nlohmann::json::accept(input));
  if (ours) VERIFY(nlohmann::json::accept(compact));
  if (ours) VERIFY(compact.find('\n') == std::string::npos);
}

// A job that is read can be written, and is read again as the same.
void read_again(const runtime::JobSpec& job) {
  const auto line = runtime::job_line(job);
  VERIFY(line);
  const auto again = runtime::parse_job(*line, {});
  VERIFY(again);
  VERIFY(static_cast<const runtime::JobSpec&>(*again) == job);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  compare_with_library(input);

  const auto job = runtime::parse_job(input, {});
  if (job) {
    const std::string request = runtime::encode_request(*job);
    VERIFY(runtime::check(request));
    VERIFY(nlohmann::json::accept(job->tag));
    read_again(*job);
  } else {
    const auto identity = runtime::identity_of(input);
    std::string line;
    append_result(runtime::bad_job(1, identity.id, identity.tag, job.error().text()), line);
    VERIFY(!job.error().text().empty());
    VERIFY(nlohmann::json::accept(line));
    VERIFY(line.find('\n') == std::string::npos);
  }
  (void)runtime::parse_defaults(input);
  return 0;
}
