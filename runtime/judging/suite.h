#pragma once
// Suite: one job with many tests becomes many runs, and their verdicts one result. Expectations are
// compared here, outside of every sandbox; a checker runs in a cell of its own. Callbacks come on
// any shard's thread.

#include <functional>
#include <memory>
#include <mutex>

#include "runtime/job/job.h"
#include "runtime/job/result.h"

namespace runtime {

class Suite : public std::enable_shared_from_this<Suite> {
 public:
  using Done = std::function<void(JobResult)>;
  // The functions that run jobs without tests.
  struct Machine {
    std::function<void(Job, Done)> run;
    std::function<void(Job, Done, Job, Done)> run_pair;  // both sides of a conversation
    unsigned at_once = 1;
  };

  // `done` is called once.
  static void start(Job job, Machine machine, Done done);

 private:
  struct Pair {
    bool program_left_first() const;  // when both have ended

    std::shared_ptr<InteractivePair> pairing;
    std::mutex mutex;
    std::optional<JobResult> program, interactor;
  };

  Suite(Job job, Machine machine, Done done);
  void launch();
  void begin(size_t index);
  // suite_jobs.cc: the runs of a test.
  Job job_of(const TestCase& test) const;
  Job checker_job(const TestCase& test, const std::string& output) const;
  Job interactor_job(const TestCase& test) const;
  // suite_pairs.cc
  void build_both();
  void converse(size_t index);
  void on_side(size_t index, const std::shared_ptr<Pair>& pair, InteractivePair::Side side,
               JobResult result);
  void give_up(JobResult result);
  void on_run(size_t index, JobResult result);
  void on_checked(size_t index, JobResult result, JobResult checked);
  // The program's result, with the files and points of its judge.
  void record_judged(size_t index, JobResult result, const Checker& judge, const char* role,
                     JobResult judged);
  struct Feedback {
    OutputFiles files;
    std::shared_ptr<HeldBytes> held{};
  };
  void record(size_t index, JobResult result, JudgeScore given, Feedback feedback);
  void record(size_t index, JobResult result) { record(index, std::move(result), {}, {}); }
  JobResult conclude();

  const Job job_;  // what the tests have in common
  const Machine machine_;
  const Done done_;
  std::mutex mutex_;
  unsigned room_ = 1;
  size_t next_ = 0, open_ = 0;
  bool stopped_ = false;
  std::optional<JobResult> whole_;      // an end that all tests share
  JobResult last_;                      // where they ran: level, layers, template
  std::vector<std::string> not_fixed_;  // of any of them
  std::vector<TestResult> results_;
  uint64_t spare_ = 0;  // bytes of output that may be kept beyond the usual
};

}  // namespace runtime
