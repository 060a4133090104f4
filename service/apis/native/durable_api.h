#pragma once
// DurableApi: jobs and batches over HTTP that are acknowledged when they are on the disk. Loop
// thread only.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "service/apis/native/context.h"
#include "service/durable/durable_jobs.h"

namespace service {

class DurableApi {
 public:
  explicit DurableApi(const NativeContext& context) : context_(context) {}

  // Takes over what an earlier service left. Does nothing where no job can be durable.
  sys::Result<void> open();
  void start();
  void feed();  // there may be room at the dispatcher
  void begin_end();
  bool is_offered() const { return jobs_ != nullptr; }
  bool busy() const { return jobs_ && jobs_->busy(); }
  size_t waiting() const { return jobs_ ? jobs_->waiting() : 0; }
  size_t unwritten() const { return jobs_ ? jobs_->unwritten() : 0; }

  // Is the request to be durable? Answers itself, and says nothing, when it cannot be as it is
  // asked for. An Idempotency-Key is well formed in any case.
  std::optional<bool> is_wanted(Exchange& exchange) const;
  void keep_job(const ExchangePtr& exchange, const runtime::Job& job,
                std::optional<sys::Milliseconds> patience);
  void keep_batch(const ExchangePtr& exchange);
  void get_job(const ExchangePtr& exchange, const std::string& id);
  void delete_job(const ExchangePtr& exchange, const std::string& id);
  void get_batch(const ExchangePtr& exchange, const std::string& id);
  void delete_batch(const ExchangePtr& exchange, const std::string& id);

 private:
  void take_over(const std::vector<SessionRow>& sessions);
  DurableRequest request_of(const Exchange& exchange, std::string id) const;
  void keep(const ExchangePtr& exchange, DurableRequest arrival, std::string_view place);
  void find(const ExchangePtr& exchange, const std::string& id, Response missing,
            std::function<void(const Progress&)> then);
  void answer_verdict(const ExchangePtr& exchange, int64_t request);
  void await_verdict(const ExchangePtr& exchange, const std::string& id, int64_t request,
                     std::optional<sys::Milliseconds> wait);

  const NativeContext context_;
  std::unique_ptr<DurableJobs> jobs_;  // none without a ledger
};

}  // namespace service
