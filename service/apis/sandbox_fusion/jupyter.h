#pragma once
// SandboxFusion's POST /run_jupyter in terms of ours: the cells of a notebook are calls of one
// function of a job, which runs them one after another in one process (notebook.py). There is no
// kernel and no IPython. Pure; the bytes are untrusted.

#include <string_view>
#include <variant>

#include "runtime/json/job/job_json.h"
#include "service/http/request.h"

namespace service::sandbox_fusion {

// A job, or what tells the client why it is none.
std::variant<runtime::Job, Response> read_run_jupyter(std::string_view body,
                                                      const runtime::JobDefaults& defaults);

Response run_jupyter_response(const runtime::JobResult& result);

}  // namespace service::sandbox_fusion
