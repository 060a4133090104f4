#pragma once
// What goes into the ledger made of what came over HTTP, and jobs made of it again. Pure; may take
// its time, so it is done away from the loop.

#include <functional>
#include <string>
#include <string_view>

#include "runtime/json/job_json.h"
#include "service/admission/dispatcher.h"
#include "service/durable/ledger.h"

namespace service {

// What lies under the jobs of a service.
struct ServiceDefaults {
  runtime::JobDefaults parsed;
  std::string text;  // what it was parsed from; empty: nothing
};

using KnowsTemplate = std::function<bool(const std::string&)>;

// Sets digest and body.
void put_job(std::string body, DurableRequest& arrival);
// Sets digest, jobs, and what lies under them. Lines that are no jobs have their result at once.
sys::Result<void> put_batch(const std::string& body, const ServiceDefaults& under,
                            const KnowsTemplate& knows_template, DurableRequest& arrival);

struct LoadedJob {
  int64_t number = 0;
  runtime::Job job;     // id and tag count in any case
  std::string verdict;  // it cannot be run here any more: this is its result
};
LoadedJob job_of(const StoredJob& stored, const KnowsTemplate& knows_template);

// Of a job that never ran.
Finished cancelled_unseen(const runtime::Job& job, bool expired);

}  // namespace service
