#include "runtime/judging/refused.h"

namespace runtime {

JobResult refused(const Job& job, const std::string& why) {
  JobResult result;
  result.id = job.id;
  result.tag = job.tag;
  result.verdict = {Outcome::kBadJob, "", By::kCaller, {{"message", why}}};
  return result;
}

}  // namespace runtime
