#include "service/apis/go_judge/socket.h"

#include <utility>

#include "runtime/loop/loop.h"

namespace service {

namespace {

// The requests of one client that are under way. The bytes that they hold are bounded with those of
// all clients; at this many requests nothing more is read, cancellations included.
constexpr size_t kMostRequests = 1024;

}  // namespace

// One message, on its way to another thread and back.
struct GoJudgeSocket::Letter {
  std::string text;
  Allowance::Share share;
  std::optional<go_judge::SocketMessage> said;
  std::optional<Read> request;
};

GoJudgeSocket::GoJudgeSocket(ExchangePtr exchange, House house, const WebSocket::Limits& limits)
    : exchange_(exchange),
      house_(std::move(house)),
      websocket_(std::make_shared<WebSocket>(std::move(exchange), house_.deadlines, house_.held,
                                             limits)) {}

void GoJudgeSocket::open(const Headers& headers) { websocket_->open(headers, shared_from_this()); }

// Messages are read in the order in which they came: a cancellation may follow its request at once.
void GoJudgeSocket::on_message(Frames::Message message) {
  websocket_->pause();
  reading_ = true;
  auto letter = std::make_shared<Letter>();
  letter->text = std::move(message.bytes);
  letter->share = Allowance::Share(house_.held, exchange_->client);
  if (!letter->share.resize(letter->text.size()))
    return websocket_->close(kCloseTryLater, "too many bytes are held already");
  auto work = [letter, read = house_.read] {
    letter->said = go_judge::read_socket_message(letter->text);
    if (letter->said && letter->said->cancel.empty()) letter->request = read(letter->text);
  };
  runtime::run_aside(house_.loop, work, [weak = weak_from_this(), letter] {
    const auto self = weak.lock();
    if (!self) return;
    self->reading_ = false;
    if (self->websocket_->is_over()) return;
    self->handle(*letter);
    self->take_next();
  });
}

void GoJudgeSocket::handle(Letter& letter) {
  if (!letter.said) return websocket_->close(kCloseUnsupported, "expected a JSON object");
  const std::string& cancel = letter.said->cancel;
  if (cancel.empty()) return submit(letter);
  const auto found = requests_.find(cancel);
  if (found != requests_.end() && found->second) house_.dispatcher.withdraw(*found->second);
}

void GoJudgeSocket::submit(Letter& letter) {
  const std::string id = letter.said->id;
  if (ending_) return websocket_->send(go_judge::socket_error(id, "worker is shutting down"));
  if (const auto* refused = std::get_if<Response>(&*letter.request))
    return websocket_->send(go_judge::socket_answer(id, *refused));
  if (id.empty()) return websocket_->send(go_judge::socket_error(id, "empty request id"));
  if (!requests_.emplace(id, std::nullopt).second)
    return websocket_->send(go_judge::socket_error(id, "duplicated request id: " + id));
  letter.text = std::string();  // the jobs have it now
  Errand errand;
  errand.client = exchange_->client;
  errand.owner = house_.owner;
  errand.trace = exchange_->trace;
  errand.share = std::move(letter.share);
  errand.cancelled = "request cancelled before execute";
  errand.ended = [weak = weak_from_this(), id](const Response& response) {
    if (const auto self = weak.lock()) self->answer(id, response);
  };
  exchange_->job_count += std::get<go_judge::Request>(*letter.request).commands.size();
  const auto ticket =
      house_.submit(std::get<go_judge::Request>(std::move(*letter.request)), std::move(errand));
  if (ticket) requests_[id] = ticket;
}

void GoJudgeSocket::answer(const std::string& id, const Response& response) {
  requests_.erase(id);
  if (websocket_->is_over()) return;
  websocket_->send(go_judge::socket_answer(id, response));
  take_next();
}

// Takes only as many as may be under way, and only from a client that takes its answers.
void GoJudgeSocket::take_next() {
  if (websocket_->is_over()) return;
  end_if_idle();
  if (!reading_ && !ending_ && requests_.size() < kMostRequests && websocket_->has_room())
    websocket_->resume();
}

void GoJudgeSocket::end() {
  ending_ = true;
  end_if_idle();
}

void GoJudgeSocket::end_if_idle() {
  if (ending_ && requests_.empty() && !reading_)
    websocket_->close(kCloseGoingAway, "the service is ending");
}

void GoJudgeSocket::on_over() {
  const auto self = shared_from_this();
  const auto requests = std::exchange(requests_, {});
  for (const auto& [id, ticket] : requests) {
    if (ticket) house_.dispatcher.withdraw(*ticket);
  }
  house_.over(self);
}

}  // namespace service
