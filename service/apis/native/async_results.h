#pragma once
// AsyncResults: jobs that were sent with async=1 or with a key, from their acceptance until their
// result is forgotten: some time after it came, or earlier when too many are kept; then the oldest
// leave first of the client who has the most. Loop thread only.

#include <algorithm>
#include <functional>
#include <list>
#include <string>
#include <unordered_map>
#include <vector>

#include "service/admission/dispatcher.h"
#include "service/deadlines.h"

namespace service {

class AsyncResults {
 public:
  struct Options {
    size_t most = 10'000;                   // results
    size_t most_bytes = size_t{256} << 20;  // of results
    sys::Milliseconds keep{600'000};
    Options within(size_t bytes) const { return {most, std::min(most_bytes, bytes), keep}; }
  };
  struct Job;
  using WaitingId = uint64_t;  // 0: nothing is waited for
  struct Waiting {
    std::function<void(const Job&)> then;
    Deadlines::Id until = 0;
  };
  struct Job {
    std::string client;
    Dispatcher::Ticket ticket = 0;
    bool ended = false, expired = false;
    std::string json;
    std::shared_ptr<void> held;  // counts it
    std::shared_ptr<void> key;   // by which it is known (JobKeys); none: by its id only
    std::unordered_map<WaitingId, Waiting> waiting;
    std::list<std::string>::iterator place;  // once it has ended
    Deadlines::Id forget_at = 0;
  };

  AsyncResults(Deadlines& deadlines, Options options) : deadlines_(deadlines), options_(options) {}

  // The key goes with the job, and earlier if it turns out that there is no verdict.
  void begin(const std::string& id, std::string client, std::shared_ptr<void> key = nullptr);
  void set_ticket(const std::string& id, Dispatcher::Ticket ticket);
  void drop(const std::string& id);
  void end(const std::string& id, Finished finished);
  // Finds a job of this client; null: there is none.
  const Job* find(const std::string& id, const std::string& client) const;
  // `then` is called once, when the job ends, or after `patience` (none: however long it takes).
  WaitingId wait(const std::string& id, std::optional<sys::Milliseconds> patience,
                 std::function<void(const Job&)> then);
  void leave(const std::string& id, WaitingId waiting);  // `then` is not called any more

 private:
  void forget(const std::string& id);
  void make_room();

  // Results of one client.
  struct Kept {
    std::list<std::string> ended;  // the oldest first
    size_t bytes = 0;
  };

  Deadlines& deadlines_;
  const Options options_;
  std::unordered_map<std::string, Job> jobs_;
  std::unordered_map<std::string, Kept> kept_;
  size_t ended_ = 0, bytes_ = 0;
  WaitingId last_waiting_ = 0;
};

}  // namespace service
