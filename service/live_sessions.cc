#include "service/live_sessions.h"

#include "service/admission/refusals.h"
#include "service/http/handshake.h"

namespace service {

LiveSessions::LiveSessions(House house)
    : house_(std::move(house)), news_(house_.loop, [this] {
        const auto sessions = sessions_;  // one that is over takes itself out
        for (const auto& session : sessions) session->look();
      }) {}

void LiveSessions::open(const ExchangePtr& exchange, std::unique_ptr<SessionProtocol> protocol,
                        std::string_view subprotocol, std::optional<sys::Milliseconds> patience) {
  if (ending_) return exchange->answer(ending());
  // A client that has shown a token is no page that a browser lets loose on this host.
  if (exchange->peer.is_unix && !house_.guard.is_welcome(exchange->request))
    return exchange->answer(error_response(403, "origin", "web pages may not speak to this"));
  auto headers = shake_hands(exchange->request, subprotocol);
  if (auto* refused = std::get_if<Response>(&headers)) return exchange->answer(std::move(*refused));
  LiveSession::House house{
      .dispatcher = house_.dispatcher,
      .loop = house_.loop,
      .deadlines = house_.deadlines,
      .held = house_.held,
      .news = [this] { news_.wake(); },
      .over = [this](const std::shared_ptr<LiveSession>& session) { sessions_.erase(session); }};
  auto session = std::make_shared<LiveSession>(exchange, std::move(house), std::move(protocol),
                                               patience, house_.limits);
  sessions_.insert(session);
  session->open(std::get<Headers>(headers));
}

void LiveSessions::begin_end() {
  ending_ = true;
  const auto sessions = sessions_;
  for (const auto& session : sessions) session->end();
}

}  // namespace service
