#pragma once
// LiveSessions: all jobs with live input and output over WebSockets. Opens them, tells them when
// there is news of their jobs, and when the service ends. Loop thread only.

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string_view>

#include "runtime/loop/loop.h"
#include "service/admission/guard.h"
#include "service/live_session.h"

namespace service {

class LiveSessions {
 public:
  // The parts of the service that they need; all of them outlive the sessions.
  struct House {
    Dispatcher& dispatcher;
    runtime::Loop& loop;
    Deadlines& deadlines;
    Allowance& held;
    const Guard& guard;
    WebSocket::Limits limits;
  };
  explicit LiveSessions(House house);

  // Answers the request: with a WebSocket, or why it gets none. `subprotocol` is named in the
  // answer if the client offers it. `patience`: the job must have started within; none: any time.
  void open(const ExchangePtr& exchange, std::unique_ptr<SessionProtocol> protocol,
            std::string_view subprotocol, std::optional<sys::Milliseconds> patience);
  // Nothing new is opened; jobs that are there may go on.
  void begin_end();
  void drop_all() { sessions_.clear(); }  // whatever becomes of their jobs

 private:
  const House house_;
  runtime::Wakeup news_;
  std::set<std::shared_ptr<LiveSession>> sessions_;
  bool ending_ = false;
};

}  // namespace service
