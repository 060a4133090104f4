#pragma once
// JobsApi: jobs and batches over HTTP, answered when they end or asked for later, and jobs that are
// sent again with their key. Those that are to survive a crash are DurableApi's. Loop thread only.

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "service/apis/native/async_results.h"
#include "service/apis/native/batch_stream.h"
#include "service/apis/native/context.h"
#include "service/apis/native/durable_api.h"
#include "service/apis/native/job_keys.h"
#include "service/apis/native/operation.h"

namespace service {

class JobsApi {
 public:
  JobsApi(const NativeContext& context, DurableApi& durable);
  static const Operations<JobsApi>& operations();

  void feed();  // batches: there may be room at the dispatcher
  void drop_all() { batches_.clear(); }

 private:
  void post_job(const ExchangePtr& exchange, const std::string&);
  void get_job(const ExchangePtr& exchange, const std::string& id);
  void delete_job(const ExchangePtr& exchange, const std::string& id);
  void post_batch(const ExchangePtr& exchange, const std::string&);
  void get_batch(const ExchangePtr& exchange, const std::string& id);
  void delete_batch(const ExchangePtr& exchange, const std::string& id);

  // A request for one job.
  struct Arrival {
    sys::Result<runtime::Job> job{runtime::Job{}};
    std::optional<sys::Milliseconds> patience;
    bool durable = false;
    std::string digest = {};  // of one with a key that is not durable
  };
  enum class Replayed : uint8_t { kNo, kYes };

  void take_job(const ExchangePtr& exchange, Arrival& arrival);
  void submit(const ExchangePtr& exchange, Dispatcher::Order order);
  void submit_kept(const ExchangePtr& exchange, Dispatcher::Order order, std::string digest);
  void replay(const ExchangePtr& exchange, const JobKeys::Known& known, const Arrival& arrival);
  void answer_kept(const ExchangePtr& exchange, const std::string& id, Replayed replayed);
  void await_result(const ExchangePtr& exchange, const std::string& id,
                    std::optional<sys::Milliseconds> wait, Replayed replayed = Replayed::kNo);
  void start_batch(const ExchangePtr& exchange, sys::Result<BatchBody> body,
                   std::optional<sys::Milliseconds> patience);
  Response job_response(const Allowance::Share& like, const std::string& id,
                        const AsyncResults::Job& job) const;

  const NativeContext context_;
  DurableApi& durable_;
  JobKeys keys_;  // of jobs in results_, which has to go first
  AsyncResults results_;
  std::set<std::shared_ptr<JobStream>> batches_;
};

}  // namespace service
