#pragma once
// SessionsApi: sessions over HTTP (docs/sessions.md). Each step is a job, with the admission of any
// other. Loop thread only.

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <variant>

#include "service/apis/native/context.h"
#include "service/apis/native/operation.h"
#include "service/apis/native/session_keeper.h"
#include "service/apis/native/try_stream.h"
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
  };
  using Making = SessionKeeper::Making;

  // Both answer the exchange themselves where they say no, or have nothing.
  bool admits(const ExchangePtr& exchange, std::optional<sys::Milliseconds>& patience) const;
  std::optional<SessionBook::Place> place_of(const ExchangePtr& exchange, const std::string& node,
                                             bool has_to_be_there);
  Session* session_of(const ExchangePtr& exchange, const std::string& id);

  void begin(const ExchangePtr& exchange, Arrival<ReadStep>& arrival);
  void run(const ExchangePtr& exchange, Arrival<ReadStep>& arrival, const std::string& node);
  void try_all(const ExchangePtr& exchange, Arrival<TryBody>& arrival, const std::string& node);
  void submit(const ExchangePtr& exchange, const std::string& session, runtime::Job job,
              std::optional<sys::Milliseconds> patience, std::function<void(Finished)> told);
  void end_run(const ExchangePtr& exchange, Making making, Finished finished);

  const NativeContext context_;
  SessionKeeper keeper_;
  std::set<std::shared_ptr<JobStream>> streams_;
  std::unordered_map<std::string, std::unordered_set<Dispatcher::Ticket>> running_;  // by sessions
};

}  // namespace service
