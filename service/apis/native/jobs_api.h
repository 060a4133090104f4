#pragma once
// JobsApi: jobs and batches over HTTP, answered when they end or asked for later. Those that are to
// survive a crash are DurableApi's. Loop thread only.

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "service/apis/native/async_results.h"
#include "service/apis/native/batch_stream.h"
#include "service/apis/native/context.h"
#include "service/apis/native/durable_api.h"
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

  void read_aside(const ExchangePtr& exchange, std::function<void()> read,
                  std::function<void()> then);
  void take_job(const ExchangePtr& exchange, sys::Result<runtime::Job> job, Dispatcher::Order order,
                bool durable);
  void submit(const ExchangePtr& exchange, Dispatcher::Order order);
  void submit_kept(const ExchangePtr& exchange, Dispatcher::Order order);
  void await_result(const ExchangePtr& exchange, const std::string& id,
                    std::optional<sys::Milliseconds> wait);
  void start_batch(const ExchangePtr& exchange, sys::Result<BatchBody> body,
                   std::optional<sys::Milliseconds> patience);
  Response job_response(const Allowance::Share& like, const std::string& id,
                        const AsyncResults::Job& job) const;

  const NativeContext context_;
  DurableApi& durable_;
  AsyncResults results_;
  std::set<std::shared_ptr<BatchStream>> batches_;
};

}  // namespace service
