#pragma once
// The POST /execute of NeMo-Skills' local sandbox in terms of ours: its request becomes a job, and
// our result its answer. Its client reads the body whatever the status is, and takes 502 alone for
// trouble of the sandbox. Pure; the bytes are untrusted.

#include <string>
#include <variant>

#include "runtime/json/job/job_json.h"
#include "service/http/request.h"

namespace service::nemo {

struct Execution {
  runtime::Job job;
  // What the answer needs of the request.
  struct Wish {
    std::string seconds;      // as it was written
    size_t characters = 0;    // of each stream that are told
    bool is_by_code = false;  // the exit code decides whether it is an error
  } wish;
};

std::variant<Execution, Response> read_execute(const Request& request,
                                               const runtime::JobDefaults& defaults);

Response execute_response(const runtime::JobResult& result, const Execution::Wish& wish);

// Nothing is known of the program.
Response trouble(std::string_view why);

}  // namespace service::nemo
