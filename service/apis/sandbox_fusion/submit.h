#pragma once
// SandboxFusion's POST /submit in terms of ours, for the one kind of dataset that brings its data
// along: CommonOJDataset, whose problems are read from standard input and answered on standard
// output. A completion of a language model becomes a program, its test cases become the tests of
// one job, and our result becomes their EvalResult. Pure; the bytes are untrusted.

#include <memory>
#include <string_view>
#include <variant>

#include "runtime/json/job/job_json.h"
#include "service/http/request.h"

namespace service::sandbox_fusion {

// The data of the request that the answer needs.
struct SubmittedCases;

struct Submission {
  runtime::Job job;
  std::shared_ptr<const SubmittedCases> cases;
};

// A submission, or the answer to one that needs no job or is none.
std::variant<Submission, Response> read_submit(std::string_view body,
                                               const runtime::JobDefaults& defaults);

Response submit_response(const runtime::JobResult& result, const SubmittedCases& cases);

}  // namespace service::sandbox_fusion
