#pragma once
// SandboxFusion's POST /run_code in terms of ours: its request becomes a job, under the rules of
// our schema, and our result becomes its answer. Status codes, texts and the rules for `status` are
// those of the original (bytedance/SandboxFusion), except where it loses output or blames a program
// for its own trouble. Pure; the bytes are untrusted.

#include <string>
#include <string_view>
#include <variant>

#include "runtime/json/job/job_json.h"
#include "service/http/request.h"

namespace service::sandbox_fusion {

// A job, or what tells the client why it is none: 422 as its framework words it, or 400.
std::variant<runtime::Job, Response> read_run_code(std::string_view body,
                                                   const runtime::JobDefaults& defaults);

Response run_code_response(const runtime::JobResult& result);

// The one status that its clients take for "try again": 504.
Response try_again(std::string_view why);

}  // namespace service::sandbox_fusion
