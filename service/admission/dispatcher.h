#pragma once
// Dispatcher: between the clients and the engine. Admits jobs or says when to come back, keeps them
// in a fair queue, gives the engine as many as it can start soon, and hands results back on the
// loop's thread. Each order that is taken gets its `done` exactly once. Loop thread only, but for
// the callbacks that the engine holds.

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>

#include "runtime/engine/engine.h"
#include "runtime/loop/loop.h"
#include "service/admission/fair_queue.h"
#include "service/admission/service_rate.h"
#include "service/deadlines.h"
#include "service/http/allowance.h"
#include "service/http/request.h"
#include "service/observe/trace_context.h"

namespace service {

inline constexpr std::string_view kNativeApi = "zygo";

// The id of a job that has none. It cannot be guessed, so it says who may ask for the result where
// there are no tokens.
std::string new_job_id();

// How a job ended, as its client and the metrics want it.
struct Finished {
  std::string json;            // the result, without a newline; empty: `response` says it
  std::string parts;           // what goes in front of it (runtime/values/parts.h)
  std::shared_ptr<void> held;  // counts it, for its client
  std::string label;           // of the closed set, or a program's own word
  std::string template_name;
  runtime::Timing timing;
  std::string failure;                // failure_note(); empty: it ended well
  int64_t cpu_us = 0;                 // of the program
  int64_t queued_us = 0;              // at the dispatcher, before the engine had it
  int64_t total_us = 0;               // at the dispatcher and with the engine
  std::string id, client;             // of the order
  std::string_view api = kNativeApi;  // its name, by which it came; of static life
  bool ran = false;                   // it was given to the engine
  bool expired = false;               // it could not be started in the time that its caller gave it
  std::shared_ptr<Response> response = nullptr;  // in the words of the order, if it has some
  // Of a step of a session, as the engine said it.
  std::optional<runtime::StepReport> step = std::nullopt;
  std::string value = {};  // in the value format, if the order wants it
};

class Dispatcher {
 public:
  using Ticket = FairQueue::Ticket;
  // Runs an order when it is its turn, if it is not one job of the engine's. Reports the end once,
  // on any thread. A job that it starts has the `watch` of the order's.
  using Told = std::function<void(Finished)>;
  // `tenant` is that of each job that it starts.
  using Run = std::function<void(runtime::Engine&, const std::string& tenant,
                                 std::shared_ptr<runtime::JobWatch>, Told)>;
  // How the result of a job is told; any thread.
  using Words = std::function<Response(const runtime::JobResult&)>;
  struct Order {
    runtime::Job job;
    Run run;      // none: `job` is run
    Words words;  // of its result; none: our JSON
    // Changes what is told of the session in its result, on any thread; none: nothing.
    std::function<void(runtime::JobResult&)> amend;
    std::string client;
    std::string_view api = kNativeApi;          // by which it came
    std::optional<TraceContext> trace;          // told in the result
    Allowance::Share share;                     // held until the job has ended
    std::optional<sys::Milliseconds> patience;  // to be started within
    bool with_parts = false;                    // long bytes of its value may leave as parts
    bool with_value = false;                    // Finished has the value, too
    bool bounded = false;                       // whoever sends it keeps the queue free for others
    std::function<void(Finished)> done;
  };
  struct Busy {
    std::string why;
    unsigned retry_after = 1;  // seconds
  };
  struct Options {
    size_t queue = 1000;
    // The tenant of a client's job that names `asked`; an error refuses the job. None: no tenant.
    std::function<sys::Result<std::string>(const std::string& client, const std::string& asked)>
        tenant_of;
    std::function<void(const Finished&)> ended;  // of every job, before its `done`
    std::function<void()> room;                  // the queue has got shorter
  };
  Dispatcher(runtime::Engine& engine, runtime::Loop& loop, Deadlines& deadlines,
             const Allowance& held, Options options);
  ~Dispatcher();

  std::variant<Ticket, Busy> submit(Order order);
  // Would it be taken, from this client and with such patience?
  std::optional<Busy> refusal(const std::string& client,
                              std::optional<sys::Milliseconds> patience) const;
  void withdraw(Ticket ticket);
  void cancel_all();                               // and whatever comes later
  void pass_signals() { engine_.pass_signals(); }  // of live jobs
  void workers_changed();                          // the engine has more or fewer

  bool has_room() const { return queue_.size() < options_.queue; }
  bool has_room_for(const std::string& client) const;
  bool has_started(Ticket ticket) const;
  size_t queued() const { return queue_.size(); }
  // Until a job that comes now would start; where jobs wait and there is no worker, kNoWorker.
  sys::Milliseconds estimated_wait() const;
  static constexpr sys::Milliseconds kNoWorker{600'000};
  size_t running() const { return running_; }  // or about to
  size_t most_queued() const { return options_.queue; }
  void set_most_queued(size_t jobs) { options_.queue = jobs; }

 private:
  struct Entry {
    Order order;
    std::string id, tag, template_name;
    std::shared_ptr<runtime::JobWatch> watch;
    Deadlines::Id deadline = 0;
    sys::Nanoseconds since{}, given_at{};
    bool given = false;    // to the engine
    bool expired = false;  // withdrawn from there because its time to start was over
  };
  // Filled by the engine's threads. Outlives the dispatcher, as they hold it.
  struct Inbox {
    std::mutex mutex;
    std::vector<std::pair<Ticket, Finished>> finished;
    std::vector<std::function<void()>> to_write;  // results so long that it takes time
    runtime::Wakeup* wakeup = nullptr;            // none: the dispatcher is gone
    runtime::Afterwards* soon = nullptr;          // the same, for the loop's own thread
    const std::thread::id owner = std::this_thread::get_id();
    void put(Ticket ticket, Finished result);
    void put(std::function<void()> work);

   private:
    void wake();  // with the mutex held
  };

  size_t workers() const { return engine_.workers(); }  // it may get more, and fewer
  size_t window() const;
  void pump();
  void start(Ticket ticket, Entry& entry);
  void collect();
  void take_back(const std::string& client);
  void expire(Ticket ticket);
  void drop(Ticket ticket);
  struct Telling;
  static Finished finished_from(runtime::JobResult result, const Telling& telling);
  static Finished refused(const Entry& entry, const sys::Error& why);
  static Finished cancelled(const Entry& entry);
  void end_unrun(Ticket ticket, Entry& entry, Finished finished);
  void conclude(Ticket ticket, Finished finished);

  runtime::Engine& engine_;
  runtime::Loop& loop_;
  Deadlines& deadlines_;
  const Allowance& held_;
  Options options_;
  FairQueue queue_;
  ServiceRate rate_;
  std::unordered_map<Ticket, Entry> entries_;
  Ticket last_ = 0;
  size_t running_ = 0;
  std::unordered_map<std::string, size_t> given_;  // to the engine, by who takes turns for them
  bool closed_ = false;
  runtime::Wakeup wakeup_;
  runtime::Afterwards soon_;
  std::shared_ptr<Inbox> inbox_;
};

}  // namespace service
