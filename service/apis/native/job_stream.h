#pragma once
// JobStream: one request whose jobs are answered as they run, a line for each. Gives the dispatcher
// job after job as there is room there and in the client's socket; what the jobs and lines are, its
// kinds say. Its jobs are withdrawn when the client is gone. Loop thread only; shared by the
// service and its callbacks.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>

#include "service/admission/dispatcher.h"
#include "service/http/exchange.h"

namespace service {

class JobStream : public std::enable_shared_from_this<JobStream> {
 public:
  using Over = std::function<void(const std::shared_ptr<JobStream>&)>;
  virtual ~JobStream() = default;

  void start();
  void feed();
  // Its jobs that wait or run; those behind them come all the same.
  void withdraw_all();

 protected:
  JobStream(ExchangePtr exchange, Dispatcher& dispatcher, size_t at_once, Over over);

  // Submits the next job or writes the next line. False: there is none, or none yet; whoever says
  // so calls feed() when there is one.
  virtual bool take_next() = 0;
  // No job is under way. Is there nothing more to come?
  virtual bool is_at_end() const = 0;
  // Does what has to be done before the last lines. False: it is under way; then calls feed().
  virtual bool settle() { return true; }
  virtual void write_end() {}    // the last lines
  virtual void lose_client() {}  // it is gone before the end

  // The order gets its client and its place in the trace. `told` is called with its result.
  void submit(Dispatcher::Order order, std::function<void(Finished)> told);
  void note(const std::string& id);  // for the log
  // Counts what a job takes, for its client, until it has ended. Nothing: that is too much.
  std::optional<Allowance::Share> room_for(const runtime::Job& job, size_t more = 0) const;
  // The result of a job for which there is no room, though nothing of this request is under way.
  static std::string without_room(const runtime::Job& job);
  bool is_busy() const { return !under_way_.empty(); }
  bool is_abandoned() const { return abandoned_; }
  template <class Kind>
  std::shared_ptr<Kind> self() {
    return std::static_pointer_cast<Kind>(shared_from_this());
  }

  const ExchangePtr exchange_;

 private:
  void abandon();
  void end_if_done();

  Dispatcher& dispatcher_;
  const size_t at_once_;
  Over over_;
  std::unordered_set<Dispatcher::Ticket> under_way_;
  bool feeding_ = false, abandoned_ = false;
};

}  // namespace service
