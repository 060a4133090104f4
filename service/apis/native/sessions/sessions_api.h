#pragma once
// SessionsApi: sessions over HTTP (docs/sessions.md). Each step is a job, with the admission of any
// other. Loop thread only.

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>

#include "service/apis/native/context.h"
#include "service/apis/native/operation.h"
#include "service/apis/native/sessions/session_keeper.h"
#include "service/apis/native/sessions/session_replays.h"
#include "service/apis/native/sessions/try_stream.h"
#include "service/sessions/step_reader.h"

namespace service {

class SessionsApi {
 public:
  explicit SessionsApi(const NativeContext& context);
  static const Operations<SessionsApi>& operations();

  void feed();  // there may be room at the dispatcher
  void drop_all() { streams_.clear(); }

 private:
  void post_session(const ExchangePtr& exchange, const std::string&);
  void get_sessions(const ExchangePtr& exchange, const std::string&);
  void get_session(const ExchangePtr& exchange, const std::string& id);
  void delete_session(const ExchangePtr& exchange, const std::string& id);
  void post_run(const ExchangePtr& exchange, const std::string& node);
  void post_try(const ExchangePtr& exchange, const std::string& node);
  void get_log(const ExchangePtr& exchange, const std::string& node);
  void delete_node(const ExchangePtr& exchange, const std::string& node);

  // A request that brings steps.
  template <typename Body>
  struct Arrival {
    sys::Result<Body> body{Body{}};
    std::optional<sys::Milliseconds> patience;
    sys::Nanoseconds came = sys::monotonic_now();
    unsigned rounds = 0;  // for a node that has gone again and again
  };
  using Making = SessionKeeper::Making;

  // Both answer the exchange themselves where they say no, or have nothing.
  bool admits(const ExchangePtr& exchange, std::optional<sys::Milliseconds>& patience) const;
  enum class Needs : uint8_t {
    kNode,   // perhaps gone
    kState,  // there, or to be had by a replay
    kThere,
  };
  std::optional<SessionBook::Place> place_of(const ExchangePtr& exchange, const std::string& node,
                                             Needs needs);
  Session* session_of(const ExchangePtr& exchange, const std::string& id);

  template <typename Body>
  using ArrivalPtr = std::shared_ptr<Arrival<Body>>;
  // Calls `then` when the node has been made anew, with the number of steps that took.
  void bring_back(const ExchangePtr& exchange, const std::string& node,
                  std::function<void(size_t replayed)> then);
  using Amend = std::function<void(runtime::JobResult&)>;
  void begin(const ExchangePtr& exchange, Arrival<ReadStep>& arrival);
  void read_and_run(const ExchangePtr& exchange, const ArrivalPtr<ReadStep>& arrival,
                    const SessionBook::Place& place, size_t replayed);
  void run(const ExchangePtr& exchange, const ArrivalPtr<ReadStep>& arrival,
           const std::string& node, size_t replayed);
  void try_all(const ExchangePtr& exchange, const ArrivalPtr<TryBody>& arrival,
               const std::string& node);
  void start_try(const ExchangePtr& exchange, const ArrivalPtr<TryBody>& arrival,
                 const SessionBook::Place& place);
  void submit(const ExchangePtr& exchange, const std::string& session, runtime::Job job,
              std::optional<sys::Milliseconds> patience, Amend amend,
              std::function<void(Finished)> told);
  // Where nodes are kept on the disk: when this one is there.
  void answer_when_written(const ExchangePtr& exchange, const std::string& node, Response response);
  // How a step was begun.
  struct Begun {
    Making making;
    std::string state;  // the engine's node that it was run at
    size_t replayed = 0;
  };
  void end_run(const ExchangePtr& exchange, const ArrivalPtr<ReadStep>& arrival, Begun begun,
               Finished finished);
  void run_again(const ExchangePtr& exchange, const ArrivalPtr<ReadStep>& arrival, Begun begun,
                 Response response);

  const NativeContext context_;
  SessionKeeper& keeper_;
  SessionReplays replays_{context_, keeper_};
  std::set<std::shared_ptr<JobStream>> streams_;
};

}  // namespace service
