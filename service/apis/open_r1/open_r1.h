#pragma once
// The POST /execute_batch of open-r1's two routers in terms of ours: each script becomes a job that
// runs it as one cell of a notebook, and our result an element of the answer. The fields of both
// routers (E2B's and Morph's) stand in each element, so the client of either finds its own. Pure;
// the bytes are untrusted.

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/json/job/job_json.h"
#include "service/http/request.h"

namespace service::open_r1 {

inline constexpr size_t kMostScripts = 10'000;

struct Batch {
  std::vector<std::string> scripts, languages;  // as many of these as of those
  double seconds = 0;                           // that each script may take
};

// A batch, or 422 with what is wrong.
std::variant<Batch, Response> read_batch(std::string_view body);

// The job of one script, or why there is none. The script moves out of the batch.
std::variant<runtime::Job, std::string> job_of(Batch& batch, size_t index,
                                               const runtime::JobDefaults& defaults);

// An element of the answer.
std::string element_of(const runtime::JobResult& result);
// Of a script of which nothing is known: what both clients take for no reward, not for one of 0.
std::string element_without_result(std::string_view why);

}  // namespace service::open_r1
