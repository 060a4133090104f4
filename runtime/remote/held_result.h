#pragma once
// What a result that came from elsewhere holds in memory is counted for whoever sent the job, as
// the engine's own process counts it.

#include <memory>

#include "runtime/job/holding.h"
#include "runtime/job/result.h"

namespace runtime {

// The result is given up if it would be too much. `holding`: none, and nothing is counted.
void hold(JobResult& result, const std::shared_ptr<Holding>& holding);

}  // namespace runtime
