#pragma once
// ForeignJobs: takes a job from a foreign API to the dispatcher, and returns its result in that
// API's format. Loop thread only.

#include <functional>
#include <string_view>

#include "service/admission/dispatcher.h"
#include "service/http/exchange.h"

namespace service {

// How an API says what became of a job.
struct ForeignWords {
  Dispatcher::Words answer;                            // any thread
  std::function<Response(std::string_view why)> busy;  // the job is not taken, or too late
  std::string_view api;                                // its name, for the records
};

class ForeignJobs {
 public:
  // Clients of these APIs wait for the limits that they have sent and some ten seconds more; a job
  // that has not begun by then would be run for nobody.
  static constexpr sys::Milliseconds kPatience{10'000};

  explicit ForeignJobs(Dispatcher& dispatcher) : dispatcher_(dispatcher) {}

  // Runs the job and answers the request.
  void run(const ExchangePtr& exchange, runtime::Job job, ForeignWords words);
  void begin_end() { ending_ = true; }  // nothing new is taken
  bool is_ending() const { return ending_; }

 private:
  Dispatcher& dispatcher_;
  bool ending_ = false;
};

}  // namespace service
