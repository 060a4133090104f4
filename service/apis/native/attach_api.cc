// Jobs that a client takes part in, over a WebSocket.

#include "service/admission/refusals.h"
#include "service/apis/native/attach_protocol.h"
#include "service/http/handshake.h"
#include "service/service.h"

namespace service {

namespace {

constexpr std::string_view kProtocol = "zygo.attach";

}  // namespace

void Service::open_session(const ExchangePtr& exchange, std::unique_ptr<SessionProtocol> protocol,
                           std::string_view subprotocol,
                           std::optional<sys::Milliseconds> patience) {
  if (ending_) return exchange->answer(ending());
  // Whoever has shown a token is no page that a browser lets loose on this host.
  if (exchange->peer.is_unix && !is_welcome(exchange->request))
    return exchange->answer(error_response(403, "origin", "web pages may not speak to this"));
  auto headers = shake_hands(exchange->request, subprotocol);
  if (auto* refused = std::get_if<Response>(&headers)) return exchange->answer(std::move(*refused));
  LiveSession::House house{
      .dispatcher = *dispatcher_,
      .loop = loop_,
      .deadlines = *deadlines_,
      .held = held_,
      .new_id = [this] { return new_id(); },
      .news = [news = session_news_.get()] { news->wake(); },
      .over = [this](const std::shared_ptr<LiveSession>& session) { sessions_.erase(session); }};
  auto session = std::make_shared<LiveSession>(exchange, std::move(house), std::move(protocol),
                                               patience, options_.websocket);
  sessions_.insert(session);
  session->open(std::get<Headers>(headers));
}

void Service::attach(const ExchangePtr& exchange) {
  std::optional<sys::Milliseconds> patience;
  if (auto bad = read_patience(*exchange, patience)) return exchange->answer(*bad);
  auto protocol = std::make_unique<AttachProtocol>(options_.defaults, facts_.knows_template,
                                                   options_.http.limits.head);
  open_session(exchange, std::move(protocol), kProtocol, patience);
}

}  // namespace service
