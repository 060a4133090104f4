#pragma once
// ForeignJobs: the way of a job from the API of somebody else to the dispatcher, and of its result
// back in that API's words. Loop thread only.

#include <functional>
#include <string>
#include <string_view>

#include "service/admission/dispatcher.h"
#include "service/admission/readers.h"
#include "service/http/exchange.h"

namespace service {

// How an API says what became of a job.
struct ForeignWords {
  std::function<Response(std::string_view result)> answer;  // of a result's JSON; any thread
  std::function<Response(std::string_view why)> busy;       // the job is not taken, or too late
  std::string_view api;                                     // its name, for the records
};

class ForeignJobs {
 public:
  // Clients of these APIs wait for the limits that they have sent and some ten seconds more; a job
  // that has not begun by then would be run for nobody.
  static constexpr sys::Milliseconds kPatience{10'000};

  ForeignJobs(Dispatcher& dispatcher, Readers& readers)
      : dispatcher_(dispatcher), readers_(readers) {}

  // Runs the job and answers the request.
  void run(const ExchangePtr& exchange, runtime::Job job, ForeignWords words);
  void begin_end() { ending_ = true; }  // nothing new is taken
  bool is_ending() const { return ending_; }

 private:
  void translate(const ExchangePtr& exchange, const ForeignWords& words,
                 const Allowance::Share& like, Finished finished);

  Dispatcher& dispatcher_;
  Readers& readers_;
  bool ending_ = false;
};

}  // namespace service
