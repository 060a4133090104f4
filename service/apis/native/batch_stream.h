#pragma once
// BatchStream: one POST /v1/batches. Takes job after job from the body as there is room at the
// dispatcher and in the client's socket, and writes each result when it comes. Its jobs are
// withdrawn when the client is gone. Loop thread only; shared by the service and its callbacks.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "service/admission/dispatcher.h"
#include "service/apis/native/batch_reader.h"
#include "service/http/exchange.h"

namespace service {

class BatchStream : public std::enable_shared_from_this<BatchStream> {
 public:
  using Over = std::function<void(const std::shared_ptr<BatchStream>&)>;
  BatchStream(ExchangePtr exchange, runtime::Loop& loop, Dispatcher& dispatcher, BatchBody body,
              runtime::JobDefaults defaults, size_t at_once, Over over);

  void start();
  void feed();

 private:
  void read_aside();
  bool may_hold(BatchReader::Item& item);
  void submit(runtime::Job job);
  void note(const std::string& id);
  void abandon();
  void end_if_done();

  const ExchangePtr exchange_;
  runtime::Loop& loop_;
  Dispatcher& dispatcher_;
  BatchReader reader_;
  const size_t at_once_;
  Over over_;
  std::unordered_set<Dispatcher::Ticket> under_way_;
  // Read, and not yet with the dispatcher: as long as too much is held for its client.
  std::optional<BatchReader::Item> next_;
  Allowance::Share next_share_;
  bool feeding_ = false, reading_ = false, abandoned_ = false;
};

}  // namespace service
