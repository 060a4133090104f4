#pragma once
// Observer: counts and remembers jobs and answers, for metrics and statistics. Loop thread
// only.

#include <functional>
#include <string>

#include "service/admission/dispatcher.h"
#include "service/observe/history.h"
#include "service/observe/metrics.h"

namespace service {

class Observer {
 public:
  using ReadGauges = std::function<Gauges()>;
  explicit Observer(ReadGauges gauges) : gauges_(std::move(gauges)) {}

  void job_ended(const Finished& job);
  // `queued`, `running`: jobs at the dispatcher then.
  void answered(int status, size_t queued, size_t running);
  std::string metrics_text() const { return metrics_.text(gauges_()); }
  // As JSON; see stats.h for the words.
  std::string stats_json(std::string version, std::string level, std::string state);

 private:
  const ReadGauges gauges_;
  Metrics metrics_;
  History history_;
};

}  // namespace service
