#pragma once
// VerdictStream: one GET /v1/batches/ID. Writes the verdicts that are on the disk, a line each, and
// those that come as long as the client waits. Loop thread only; shared by its callbacks.

#include <memory>
#include <vector>

#include "service/deadlines.h"
#include "service/durable/durable_jobs.h"
#include "service/http/exchange.h"

namespace service {

class VerdictStream : public std::enable_shared_from_this<VerdictStream> {
 public:
  VerdictStream(ExchangePtr exchange, DurableJobs& jobs, Deadlines& deadlines, Progress progress,
                size_t after);
  void start(sys::Milliseconds wait);

 private:
  void read();
  void got(sys::Result<std::vector<VerdictEntry>> found);
  void stop_waiting();
  void end();

  const ExchangePtr exchange_;
  DurableJobs& jobs_;
  Deadlines& deadlines_;
  const Progress progress_;
  size_t after_;  // verdicts that were passed over or written
  DurableJobs::WatcherId watcher_ = 0;
  Deadlines::Id until_ = 0;
  bool waiting_ = false, reading_ = false, over_ = false;
  bool changed_ = false;  // since the last reading began
};

}  // namespace service
