#pragma once
// dify-sandbox's POST /v1/sandbox/run in terms of ours: its request becomes a job, and our result
// its answer. Codes and texts are the original's (langgenius/dify-sandbox). Pure; the bytes are
// untrusted.

#include <string_view>
#include <variant>

#include "runtime/json/job/job_json.h"
#include "service/http/request.h"

namespace service::dify {

std::variant<runtime::Job, Response> read_run(std::string_view body,
                                              const runtime::JobDefaults& defaults);

Response run_response(const runtime::JobResult& result);

// For python3: the template decides what a program may import, so the list is empty.
Response dependencies_response();

Response overloaded();

}  // namespace service::dify
