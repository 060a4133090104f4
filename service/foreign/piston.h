#pragma once
// Piston's API v2 in terms of ours: `runtimes` and `execute`. A request becomes the JSON of a job,
// so that one schema validates both, and our result becomes its answer. Status codes and texts are
// those of the original (engineer-man/piston 3.1.1), except where it loses output or hides how a
// program ended. Pure; bytes come from strangers.

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/api/job_json.h"
#include "service/foreign/semver.h"
#include "service/http/request.h"

namespace service::piston {

// What an operator may set; as the original has it.
struct Limits {
  int64_t run_timeout_ms = 3000, compile_timeout_ms = 10'000;  // the most, and the usual
  int64_t output_bytes = 1024;                                 // of each stream
};

struct Language {
  std::string name;
  Version version;
  std::vector<std::string> aliases;
  bool compiled = false;
};

// From the JSON of GET /v1/runtimes: what is installed here and says its version.
std::vector<Language> languages_of(std::string_view runtimes);

Response runtimes_response(const std::vector<Language>& languages);

struct Execution {
  runtime::Job job;
  Language language;
};
std::variant<Execution, Response> read_execute(const Request& request,
                                               const std::vector<Language>& languages,
                                               const Limits& limits,
                                               const runtime::JobDefaults& defaults);

// `result`: the JSON of one of our results.
Response execute_response(std::string_view result, const Language& language);

Response message_response(int status, std::string_view message);

}  // namespace service::piston
