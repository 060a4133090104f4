#pragma once
// BatchStream: one POST /v1/batches. Takes job after job from the body, and writes each result when
// it comes.

#include <memory>
#include <optional>
#include <string>

#include "service/apis/native/batch_reader.h"
#include "service/apis/native/job_stream.h"

namespace service {

class BatchStream : public JobStream {
 public:
  BatchStream(ExchangePtr exchange, runtime::Loop& loop, Dispatcher& dispatcher, BatchBody body,
              runtime::JobDefaults defaults, size_t at_once, Over over);

 private:
  bool take_next() override;
  bool is_at_end() const override;
  void read_aside();
  bool may_hold(BatchReader::Item& item);
  void submit_job(runtime::Job job);

  runtime::Loop& loop_;
  BatchReader reader_;
  // Read, and not yet with the dispatcher: as long as too much is held for its client.
  std::optional<BatchReader::Item> next_;
  Allowance::Share next_share_;
  bool reading_ = false;
};

}  // namespace service
