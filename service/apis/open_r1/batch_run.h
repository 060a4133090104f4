#pragma once
// BatchRun: takes the scripts of one request to the dispatcher, a bounded number at a time, and
// answers when each has its element. Loop thread only.

#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "service/apis/api.h"
#include "service/apis/open_r1/open_r1.h"

namespace service::open_r1 {

class BatchRun : public std::enable_shared_from_this<BatchRun> {
 public:
  // `context` outlives it.
  BatchRun(const ApiContext& context, ExchangePtr exchange, Batch batch);
  void start();

 private:
  void feed();
  bool submit_next();  // false: it waits until another has ended
  void submit(size_t index, runtime::Job job, Allowance::Share share);
  void end(size_t index, Finished finished);
  void answer();

  const ApiContext& context_;
  const ExchangePtr exchange_;
  Batch batch_;
  std::vector<std::string> elements_;
  std::vector<std::shared_ptr<void>> held_;  // counts them
  std::unordered_set<Dispatcher::Ticket> under_way_;
  size_t next_ = 0;
  bool gone_ = false;
};

}  // namespace service::open_r1
