#pragma once
// LiveSession: one WebSocket and its one job with live input and output. Waits for the job, brings
// it to the dispatcher, feeds its stdin, passes its output on as fast as the client takes it, says
// how it ended, and closes. The job is withdrawn when the client is gone. Loop thread only; shared
// by the service and its callbacks.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/job/live_io.h"
#include "runtime/loop/loop.h"
#include "service/http/websocket.h"
#include "service/session_protocol.h"

namespace service {

class LiveSession : public WebSocketListener, public std::enable_shared_from_this<LiveSession> {
 public:
  // The parts of the service that it needs.
  struct House {
    Dispatcher& dispatcher;
    runtime::Loop& loop;
    Deadlines& deadlines;
    Allowance& held;
    std::function<void()> news;  // of the job; any thread. Then look() is to be called
    std::function<void(const std::shared_ptr<LiveSession>&)> over;
  };
  LiveSession(ExchangePtr exchange, House house, std::unique_ptr<SessionProtocol> protocol,
              std::optional<sys::Milliseconds> patience, const WebSocket::Limits& limits);

  void open(const Headers& headers);
  void look();  // is there anything new of the job?
  void end();   // the service is ending: a job that is there may go on
  bool is_idle() const { return !live_; }

  void on_message(Frames::Message message) override;
  void on_room() override { pump(); }
  void on_over() override;

 private:
  // Output that was taken from the job.
  struct Outgoing {
    std::string bytes;
    size_t sent = 0;
    std::string_view left() const { return std::string_view(bytes).substr(sent); }
    void add(std::string_view more) {
      bytes.erase(0, std::exchange(sent, 0));
      bytes += more;
    }
  };

  struct Letter;
  void await_job();
  void hear_aside(Frames::Message message);
  void handle(Heard heard, size_t bytes);
  void take_job(Heard heard, size_t bytes);
  void take_input(std::string_view bytes, bool is_last);
  bool is_full() const;
  void write_some();
  void pump();
  bool take_news();
  size_t sendable(const Outgoing& from) const;
  void send_piece(runtime::Stream stream, Outgoing& from);
  void send(const std::string& message);
  void say(const std::vector<std::string>& messages);
  void leave(const Goodbye& last);

  const ExchangePtr exchange_;
  House house_;
  const std::shared_ptr<SessionProtocol> protocol_;  // shared with another thread that hears
  std::optional<sys::Milliseconds> patience_;
  const std::shared_ptr<WebSocket> websocket_;
  Deadlines::Id first_by_ = 0;
  std::string id_;
  std::optional<Dispatcher::Ticket> ticket_;  // none: there is no job, or it has ended
  std::shared_ptr<runtime::LiveIo> live_;
  runtime::LiveIo::Stage stage_ = runtime::LiveIo::Stage::kWaiting;
  Outgoing out_, err_;
  std::optional<Finished> finished_;
  std::shared_ptr<void> last_held_;  // counts the last message
  // The program's stdin; the descriptor outlives its watch.
  sys::OwnedFd stdin_;
  std::unique_ptr<runtime::Writable> stdin_room_;
  std::string input_;
  size_t input_at_ = 0;
  bool input_ends_ = false, pumping_ = false;
};

}  // namespace service
