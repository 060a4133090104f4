#include "service/apis/mcp/api.h"

#include <memory>
#include <utility>
#include <vector>

#include "service/apis/mcp/http_requests.h"
#include "service/apis/mcp/session_interpreter.h"

namespace service::mcp {

namespace {

constexpr const char* kSessionHeader = "mcp-session-id";

// One request that waits for its answers, which come as events from the first that comes before the
// last on.
class Waiting {
 public:
  explicit Waiting(ExchangePtr exchange, std::string session)
      : exchange_(std::move(exchange)),
        session_(std::move(session)),
        takes_events_(service::mcp::takes_events(exchange_->request)) {}

  void notify(const std::string& text) {
    if (!takes_events_ || !exchange_->open()) return;
    if (!begun_) exchange_->begin(head(200, "", "text/event-stream"));
    begun_ = true;
    if (exchange_->has_room()) exchange_->write(event_of(text));  // else it is late, and left out
  }

  bool hold(size_t bytes) {
    auto held = held_share(exchange_->share, bytes);
    if (held) held_->push_back(held);
    return held != nullptr;
  }

  void answer(std::string text) {
    if (!exchange_->open()) return;
    const std::shared_ptr<void> held = held_;
    if (begun_) {
      if (!text.empty()) exchange_->write(event_of(text), held);
      return exchange_->end();
    }
    if (text.empty()) return exchange_->answer(head(202, "", "application/json"));
    Response response = head(200, text + "\n", "application/json");
    response.held = held;
    exchange_->answer(std::move(response));
  }

 private:
  static std::string event_of(const std::string& text) {
    return "event: message\ndata: " + text + "\n\n";
  }
  Response head(int status, std::string body, std::string type) const {
    Response response{.status = status, .body = std::move(body), .type = std::move(type)};
    response.headers.emplace_back("Cache-Control", "no-store");
    if (!session_.empty()) response.headers.emplace_back("Mcp-Session-Id", session_);
    return response;
  }

  const ExchangePtr exchange_;
  const std::string session_;  // that begins with it; empty: none does
  const bool takes_events_;
  bool begun_ = false;
  const std::shared_ptr<std::vector<std::shared_ptr<void>>> held_ =
      std::make_shared<std::vector<std::shared_ptr<void>>>();
};

bool is_initialize(const Incoming& incoming) {
  return !incoming.is_batch && incoming.messages.size() == 1 &&
         incoming.messages[0].kind == Message::Kind::kRequest &&
         incoming.messages[0].method == "initialize";
}

}  // namespace

Routes McpApi::routes() {
  return {
      {Method::kPost, "/mcp", Scope::kJobs,
       [this](const ExchangePtr& exchange, const std::string&) { post(exchange); }},
      {Method::kDelete, "/mcp", Scope::kJobs,
       [this](const ExchangePtr& exchange, const std::string&) { end(exchange); }},
  };
}

// With tokens the guard takes any page that brings one; this protocol asks for more.
bool McpApi::admits(const ExchangePtr& exchange) const {
  if (!exchange->peer.is_unix && !context_.guard.is_welcome(exchange->request)) {
    exchange->answer(rpc_error(403, kInvalidRequest, "Origin: this page may not call this server"));
    return false;
  }
  if (context_.foreign_sessions.keeps_nodes()) return true;
  exchange->answer(rpc_error(501, kInvalidRequest, "a router has no sessions"));
  return false;
}

void McpApi::post(const ExchangePtr& exchange) {
  if (!admits(exchange)) return;
  if (auto refusal = refusal_of(exchange->request)) return exchange->answer(*std::move(refusal));
  const Incoming incoming = read_messages(exchange->request.body);
  exchange->request.body = std::string();
  if (incoming.error != 0) return exchange->answer(rpc_error(400, incoming.error, incoming.why));
  std::string begun;
  const sys::Nanoseconds now = sys::monotonic_now();
  ClientSessions::ConversationPtr session;
  if (is_initialize(incoming)) {
    session = std::make_shared<Conversation>(
        std::make_unique<SessionInterpreter>(
            SessionInterpreter::Parts{context_.foreign_sessions, context_.jobs, context_.dispatcher,
                                      context_.held, context_.defaults, kName},
            exchange->client),
        context_.version);
    const bool begins = wanted_version(incoming.messages[0]) != nullptr;
    if (begins) begun = sessions_.add(exchange->client, session, now);
    if (begins && begun.empty())
      return exchange->answer(rpc_error(429, kInvalidRequest, "too many sessions are busy"));
    arm();
  } else {
    if (auto refusal = refusal_of_version(exchange->request))
      return exchange->answer(*std::move(refusal));
    const std::string* id = exchange->request.header(kSessionHeader);
    if (!id) return exchange->answer(rpc_error(400, kInvalidRequest, "Mcp-Session-Id: required"));
    session = sessions_.find(*id, exchange->client, now);
    if (!session)
      return exchange->answer(rpc_error(404, kInvalidRequest, "there is no such session"));
  }
  auto waiting = std::make_shared<Waiting>(exchange, begun);
  const auto handle =
      session->receive(incoming, {[waiting](const std::string& text) { waiting->notify(text); },
                                  [waiting](std::string text) { waiting->answer(std::move(text)); },
                                  [waiting](size_t bytes) { return waiting->hold(bytes); }});
  exchange->when_gone([weak = std::weak_ptr(session), handle] {
    if (const auto there = weak.lock()) there->abandon(handle);
  });
}

void McpApi::end(const ExchangePtr& exchange) {
  if (!admits(exchange)) return;
  const std::string* id = exchange->request.header(kSessionHeader);
  if (!id) return exchange->answer(rpc_error(400, kInvalidRequest, "Mcp-Session-Id: required"));
  if (!sessions_.end(*id, exchange->client))
    return exchange->answer(rpc_error(404, kInvalidRequest, "there is no such session"));
  exchange->answer({.status = 204});
}

void McpApi::arm() {
  context_.deadlines.forget(std::exchange(sweep_, 0));
  const auto next = sessions_.next_end();
  if (!next) return;
  sweep_ = context_.deadlines.at(*next, [this] {
    sweep_ = 0;
    sessions_.end_idle(sys::monotonic_now());
    arm();
  });
}

}  // namespace service::mcp
