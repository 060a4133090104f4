#pragma once
// Suite: one job with many tests becomes many runs, and their verdicts one result. Expectations are
// compared here, outside of every sandbox; a checker runs in a cell of its own. Callbacks come on
// any shard's thread.

#include <functional>
#include <memory>
#include <mutex>

#include "runtime/job.h"
#include "runtime/result.h"

namespace runtime {

class Suite : public std::enable_shared_from_this<Suite> {
 public:
  using Done = std::function<void(JobResult)>;
  using Submit = std::function<void(Job, Done)>;

  // `submit` runs one job without tests; `at_once` of them at a time. `done` is called once.
  static void start(Job job, unsigned at_once, Submit submit, Done done);

 private:
  Suite(Job job, Submit submit, Done done);
  void launch();
  Job job_of(const TestCase& test) const;
  Job checker_job(const TestCase& test, const std::string& output) const;
  void on_run(size_t index, JobResult result);
  void on_checked(size_t index, JobResult result, JobResult checked);
  void record(size_t index, JobResult result);
  JobResult conclude();

  const Job job_;  // what the tests have in common
  const Submit submit_;
  const Done done_;
  std::mutex mutex_;
  unsigned room_ = 1;
  size_t next_ = 0, open_ = 0;
  bool stopped_ = false;
  std::optional<JobResult> whole_;  // an end that all tests share
  JobResult last_;                  // where they ran: level, layers, template
  std::vector<TestResult> results_;
};

}  // namespace runtime
