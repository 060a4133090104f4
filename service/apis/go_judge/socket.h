#pragma once
// GoJudgeSocket: one client of go-judge's /ws. Takes one message at a time, reads it away from the
// loop, brings its request to the dispatcher, and says how each ended, by its id. Requests whose
// client is gone are withdrawn. Loop thread only; shared by the API and its callbacks.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "service/admission/dispatcher.h"
#include "service/apis/go_judge/go_judge.h"
#include "service/apis/go_judge/messages.h"
#include "service/http/websocket.h"

namespace service {

class GoJudgeSocket : public WebSocketListener, public std::enable_shared_from_this<GoJudgeSocket> {
 public:
  using Read = std::variant<go_judge::Request, Response>;
  // A request that has been read, and what becomes of it. `ended` is called once, on the loop.
  struct Errand {
    std::string client, owner;  // for the queue; whose files it may name
    std::optional<TraceContext> trace;
    Allowance::Share share;
    std::string cancelled;  // what is said of one that was withdrawn before it began
    std::function<void(Response)> ended;
  };
  // The parts of the API that it needs.
  struct House {
    Dispatcher& dispatcher;
    runtime::Loop& loop;
    Deadlines& deadlines;
    Allowance& held;
    std::string owner;
    std::function<Read(std::string_view text)> read;  // any thread
    // None: it was refused, and has ended.
    std::function<std::optional<Dispatcher::Ticket>(go_judge::Request, Errand)> submit;
    std::function<void(const std::shared_ptr<GoJudgeSocket>&)> over;
  };
  GoJudgeSocket(ExchangePtr exchange, House house, const WebSocket::Limits& limits);

  void open(const Headers& headers);
  void end();  // the service is ending: what is under way may go on

  void on_message(Frames::Message message) override;
  void on_room() override { take_next(); }
  void on_over() override;

 private:
  struct Letter;
  void handle(Letter& letter);
  void submit(Letter& letter);
  void answer(const std::string& id, const Response& response);
  void take_next();
  void end_if_idle();

  const ExchangePtr exchange_;
  const House house_;
  const std::shared_ptr<WebSocket> websocket_;
  // Under way, by the client's ids. None: it is about to be at the dispatcher.
  std::map<std::string, std::optional<Dispatcher::Ticket>> requests_;
  bool reading_ = false, ending_ = false;
};

}  // namespace service
