#pragma once
// PilotSession: one connection of a pilot, at the router. Reads what the pilot says and tells the
// fleet; sends it what the fleet wants, many small messages together; notices that it is silent.
// Loop thread only; shared by the API and its callbacks.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/router/fleet.h"
#include "cluster/router/known_runtimes.h"
#include "cluster/router/lost_pilots.h"
#include "cluster/router/pilot_link.h"
#include "cluster/wire/frames.h"
#include "cluster/wire/messages.h"
#include "runtime/loop/loop.h"
#include "service/deadlines.h"
#include "service/http/websocket.h"

namespace cluster {

class PilotSession : public service::WebSocketListener,
                     public PilotLink,
                     public std::enable_shared_from_this<PilotSession> {
 public:
  struct House {
    Fleet& fleet;
    runtime::Loop& loop;
    service::Deadlines& deadlines;
    std::string router;       // its name
    sys::Milliseconds lease;  // of silence, after which a pilot counts as lost
    sys::Milliseconds hello;  // within which it must have said who it is
    std::function<std::string(const Hello&)> objection;  // why it may not join; empty: it may
    KnownRuntimes& runtimes;
    // It is lost, and what it had is not started elsewhere yet.
    std::function<void(Fleet::Pilot pilot, LostPilots::Reason why, const std::string& message)>
        lost;
    std::function<void(const std::string&line)> log, trouble;  // what goes well, and what does not
    std::function<void(const std::shared_ptr<PilotSession>&)> over;
  };
  PilotSession(std::shared_ptr<service::WebSocket> socket, std::string address, House house);

  void open(const service::Headers& headers);
  void end();  // the router ends

  void send(std::string_view message) override;

  void on_message(service::Frames::Message message) override;
  void on_room() override { flush(); }
  void on_over() override;

 private:
  void handle(std::string_view frame);
  void greet(runtime::WireReader& in);
  bool is_member() const { return pilot_ != 0; }
  bool read(Kind kind, uint64_t number, runtime::WireReader& in);
  void take_news(uint64_t number, runtime::WireReader& in);
  void take_result(uint64_t number, runtime::WireReader& in);
  void refuse(const std::string& why);
  void flush();
  void beat();
  std::string named() const;
  void tell_loss() const;

  const std::shared_ptr<service::WebSocket> socket_;
  const std::string address_;
  const House house_;
  FrameWriter waiting_;
  runtime::Afterwards soon_;
  service::Deadlines::Id beat_ = 0;
  sys::Nanoseconds heard_{}, beat_at_{};
  Fleet::Pilot pilot_ = 0;  // 0: it has not said hello
  std::string name_;
  std::string sent_away_;  // why; empty: it is not
  bool lapsed_ = false, over_ = false;
};

}  // namespace cluster
