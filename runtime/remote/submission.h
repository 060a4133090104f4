#pragma once
// Submission: a message of a front that brings a job, or two that talk with each other, read and
// held to what a front sends. Nothing in it is believed; the rules of jobs are json/job_check's.

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/job/job.h"
#include "runtime/job/live_io.h"
#include "runtime/remote/channel.h"
#include "runtime/remote/protocol.h"

namespace runtime {

// The output of a live job leaves in the order in which it was written, whoever sends it.
struct OrderedLive {
  std::shared_ptr<LiveIo> io;
  std::mutex order;
};

// A job of the front.
struct SubmittedJob {
  JobHead head;
  Job job;
  std::shared_ptr<OrderedLive> live;
};

struct Submission {
  Channel::Message message;
  std::vector<SubmittedJob> jobs;
  bool one_way = false;
  std::string wrong;  // what no front sends; empty: the jobs are read

  // Takes the message apart; any thread.
  void read();

 private:
  void take_descriptors(SubmittedJob& submitted, size_t& taken);
};

}  // namespace runtime
