#pragma once
// Piston's API v2 in terms of ours: `runtimes` and `execute`. A request becomes a job, under the
// rules of our schema, and our result becomes its answer. Status codes and texts are those of the
// original (engineer-man/piston 3.1.1), except where it loses output or hides how a program ended.
// Pure; the bytes are untrusted.

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/json/job/job_json.h"
#include "service/apis/piston/languages.h"
#include "service/http/request.h"

namespace service::piston {

inline constexpr std::string_view kName = "piston";

// The operator's limits, as in the original.
struct Limits {
  int64_t run_timeout_ms = 3000, compile_timeout_ms = 10'000;  // the most, and the usual
  int64_t output_bytes = 1024;                                 // of each stream
};

struct Options {
  Limits limits;
  std::vector<Pin> pins;
};

Response runtimes_response(const std::vector<Language>& languages);

// GET, and POST or DELETE, of /api/v2/packages.
Response packages_response(const std::vector<Language>& languages);
enum class Change : uint8_t { kAdd, kRemove };
Response change_packages(const Request& request, const std::vector<Language>& languages,
                         Change change);

struct Execution {
  runtime::Job job;
  Language language;
};
std::variant<Execution, Response> read_execute(const Request& request,
                                               const std::vector<Language>& languages,
                                               const Limits& limits,
                                               const runtime::JobDefaults& defaults);

// The same of the body alone, for a program whose input comes live: it has none of its own, and its
// output has the service's limits. A text: why not.
std::variant<Execution, std::string> read_init(std::string_view body,
                                               const std::vector<Language>& languages,
                                               const Limits& limits,
                                               const runtime::JobDefaults& defaults);

Response execute_response(const runtime::JobResult& result, const Language& language);

// How the run, or a build that failed, ended; as JSON.
struct Ending {
  std::string code, signal;
  bool compile_failed = false;
  std::string complaint;           // of a compiler
  std::optional<std::string> why;  // it never ran, through no fault of its own
};
Ending ending_of(const runtime::JobResult& result);

Response message_response(int status, std::string_view message);

}  // namespace service::piston
