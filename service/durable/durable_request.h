#pragma once
// Makes entries of the ledger from HTTP requests, and jobs from entries. Pure; may take long, so it
// runs on another thread than the loop's.

#include <functional>
#include <string>
#include <string_view>

#include "runtime/json/job/job_json.h"
#include "service/admission/dispatcher.h"
#include "service/durable/ledger.h"

namespace service {

// The defaults of a service's jobs.
struct ServiceDefaults {
  runtime::JobDefaults parsed;
  std::string text;  // what it was parsed from; empty: nothing
};

using KnowsTemplate = std::function<bool(const std::string&)>;

// Two requests for one job are the same if their bodies have one digest.
std::string digest_of_job(std::string_view body);
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

// The result of a job that never ran.
Finished cancelled_unseen(const runtime::Job& job, bool expired);

}  // namespace service
