#pragma once
// DurableJobs: jobs that are in the ledger, from their acceptance, or from the start of the
// service, until their verdict is there, too. Takes them to the dispatcher little by little,
// clients in turns, and tells nobody of a verdict before it is on the disk. The next service runs
// the jobs that have no verdict when this one ends. Loop thread only.

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "service/admission/dispatcher.h"
#include "service/admission/fair_queue.h"
#include "service/deadlines.h"
#include "service/durable/durable_request.h"
#include "service/durable/ledger_writer.h"

namespace service {

class DurableJobs {
 public:
  struct Options {
    size_t at_once = 4;                  // jobs with the dispatcher
    size_t bytes_at_once = 64u << 20;    // of their bodies
    size_t unwritten_bytes = 64u << 20;  // of verdicts; above, no new job is started
    KnowsTemplate knows_template;
    std::function<void(const Finished&)> ended;  // one that the dispatcher has not seen
    std::function<void()> rested;                // nothing is left to be written
  };
  enum class State : uint8_t { kQueued, kRunning };
  // A verdict that is on the disk; none: the service is ending, and its successor will have it.
  using Watcher = std::function<void(const VerdictEntry*)>;
  using WatcherId = uint64_t;

  DurableJobs(runtime::Loop& loop, Deadlines& deadlines, Dispatcher& dispatcher,
              std::shared_ptr<Ledger> ledger, Options options);
  // Takes the jobs that an earlier service left. Called before anything else.
  void take_over(std::vector<Waiting> left);
  void start();  // to run them
  void feed();   // there may be room at the dispatcher

  // `then` gets an error if it is not on the disk.
  void accept(DurableRequest arrival, std::function<void(sys::Result<Receipt>)> then);
  // Nothing: this client has no such request.
  void find(const std::string& id, const std::string& client,
            std::function<void(sys::Result<std::optional<Progress>>)> then);
  void read_verdicts(int64_t request, size_t after, size_t bytes,
                     std::function<void(sys::Result<std::vector<VerdictEntry>>)> then);
  // The state of all jobs of a request.
  State state_of(int64_t request) const;
  void withdraw(int64_t request);
  // Called for each verdict of the request that comes from now on, until unwatch().
  WatcherId watch(int64_t request, Watcher watcher);
  void unwatch(int64_t request, WatcherId id);

  void begin_end();  // what has not started stays for the next service
  bool ending() const { return ending_; }
  bool busy() const { return ledger_writer_.busy(); }
  size_t waiting() const { return jobs_.size(); }
  LedgerWriter& writer() { return ledger_writer_; }
  size_t unwritten() const { return ledger_writer_.unwritten(); }

 private:
  enum class Place : uint8_t { kQueue, kLoading, kLoaded, kDispatcher, kLedgerWriter, kLeft };
  enum class Fate : uint8_t { kNone, kWithdrawn, kExpired };
  struct Job {
    Waiting facts;
    Place place = Place::kQueue;
    Fate fate = Fate::kNone;
    Dispatcher::Ticket ticket = 0;
    Deadlines::Id until = 0;
    std::shared_ptr<void> held = nullptr;  // counts the verdict, until it is on the disk
  };

  void enqueue(Waiting facts);
  bool has_room() const;
  std::vector<int64_t> next_to_load();
  void load();
  void loaded(std::vector<LoadedJob> jobs);
  void not_loaded(const std::vector<int64_t>& numbers);
  void submit_loaded();
  void submit(runtime::Job job, int64_t number);
  void doom(int64_t number, Fate fate);
  void leave(int64_t number);
  void ended(int64_t number, const runtime::Job& identity, Finished finished);
  void record(int64_t number, std::string json, bool expired);
  void told(const VerdictEntry& verdict);
  void tell(int64_t request, const VerdictEntry* verdict);

  Deadlines& deadlines_;
  Dispatcher& dispatcher_;
  const Options options_;
  LedgerWriter ledger_writer_;
  std::unordered_map<int64_t, Job> jobs_;  // without a verdict on the disk
  FairQueue queue_;                        // of their numbers
  std::deque<int64_t> first_;              // before the queue: those to be cancelled, or read again
  std::deque<LoadedJob> loaded_;           // for the dispatcher, when it has room
  size_t at_desk_ = 0, loading_ = 0;
  size_t bytes_ = 0;  // of bodies that are loading, loaded or with the dispatcher
  std::unordered_map<int64_t, std::map<WatcherId, Watcher>> watchers_;
  WatcherId last_watcher_ = 0;
  Deadlines::Id retry_ = 0;
  bool started_ = false, ending_ = false;
};

}  // namespace service
