#include "service/live_session.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "runtime/values/utf8.h"

namespace service {

using runtime::LiveIo;
using runtime::Stream;

namespace {

constexpr size_t kMostInput = size_t{1} << 20;  // that waits for the program; then we stop reading
constexpr size_t kPiece = size_t{32} << 10;     // of output, in one message
const Dispatcher::Busy kTooMuchHeld{"too many bytes of requests are held already", 1};

}  // namespace

// One message, on its way to another thread and back.
struct LiveSession::Letter {
  Frames::Message message;
  Allowance::Share share;
  Heard heard;
};

LiveSession::LiveSession(ExchangePtr exchange, House house,
                         std::unique_ptr<SessionProtocol> protocol,
                         std::optional<sys::Milliseconds> patience, const WebSocket::Limits& limits)
    : exchange_(exchange),
      house_(std::move(house)),
      protocol_(std::move(protocol)),
      patience_(patience),
      websocket_(std::make_shared<WebSocket>(std::move(exchange), house_.deadlines, house_.held,
                                             limits)) {}

void LiveSession::open(const Headers& headers) {
  const auto self = shared_from_this();
  await_job();
  websocket_->open(headers, self);
}

void LiveSession::await_job() {
  const sys::Nanoseconds until = sys::monotonic_now() + protocol_->patience();
  first_by_ = house_.deadlines.at(until, [self = shared_from_this()] {
    self->first_by_ = 0;
    if (!self->websocket_->in_message()) return self->leave(self->protocol_->too_late());
    self->await_job();  // it is on its way, and has the time that any message has
  });
}

void LiveSession::on_message(Frames::Message message) {
  if (protocol_->hears_aside()) return hear_aside(std::move(message));
  handle(protocol_->hear(message), message.bytes.size());
}

// Later messages wait until this one is understood.
void LiveSession::hear_aside(Frames::Message message) {
  house_.deadlines.forget(std::exchange(first_by_, 0));
  auto letter = std::make_shared<Letter>();
  letter->message = std::move(message);
  letter->share = Allowance::Share(house_.held, exchange_->client);
  const size_t bytes = letter->message.bytes.size();
  if (!letter->share.resize(bytes)) return leave(protocol_->busy(kTooMuchHeld));
  websocket_->pause();
  auto work = [letter, protocol = protocol_] { letter->heard = protocol->hear(letter->message); };
  runtime::run_aside(house_.loop, work, [weak = weak_from_this(), letter, bytes] {
    const auto self = weak.lock();
    if (!self || self->websocket_->is_over()) return;
    letter->message = {};
    letter->share = {};
    self->handle(std::move(letter->heard), bytes);
    if (!self->is_full()) self->websocket_->resume();
  });
}

void LiveSession::handle(Heard heard, size_t bytes) {
  if (heard.refusal) return leave(*heard.refusal);
  if (heard.job) return take_job(std::move(heard), bytes);
  if (heard.cancel && ticket_) house_.dispatcher.withdraw(*ticket_);
  if (heard.signal != 0 && live_) {
    live_->signal(heard.signal);
    house_.dispatcher.pass_signals();
  }
  take_input(heard.input, heard.end_of_input);
}

void LiveSession::take_job(Heard heard, size_t bytes) {
  house_.deadlines.forget(std::exchange(first_by_, 0));
  sys::Result<std::shared_ptr<LiveIo>> live = LiveIo::create(house_.news);
  Dispatcher::Order order;
  order.share = Allowance::Share(house_.held, exchange_->client);
  if (!live || !order.share.resize(std::max<uint64_t>(bytes, heard.bytes)))
    return leave(protocol_->busy(kTooMuchHeld));
  order.job = *std::move(heard.job);
  if (heard.run) order.run = heard.run(*live);
  order.words = std::move(heard.words);
  order.api = protocol_->api();
  if (order.job.id.empty()) order.job.id = new_job_id();
  order.client = exchange_->client;
  order.patience = patience_;
  if (order.job.deadline)
    order.patience = std::min(patience_.value_or(*order.job.deadline), *order.job.deadline);
  std::string first_input = std::exchange(order.job.stdin_bytes, "");
  order.job.live = *live;
  id_ = order.job.id;
  order.done = [self = shared_from_this()](Finished finished) {
    self->ticket_.reset();
    self->finished_ = std::move(finished);
    self->pump();
  };
  auto taken = house_.dispatcher.submit(std::move(order));
  if (const auto* full = std::get_if<Dispatcher::Busy>(&taken))
    return leave(protocol_->busy(*full));
  exchange_->jobs.push_back(id_);
  exchange_->job_count = 1;
  ticket_ = std::get<Dispatcher::Ticket>(taken);
  live_ = *live;
  stdin_ = live_->take_writer();
  say(protocol_->accepted());
  take_input(first_input, heard.end_of_input);
}

// Input that comes after its end, or when the program has closed its side, is for nobody.
void LiveSession::take_input(std::string_view bytes, bool is_last) {
  if (!stdin_ || input_ends_) return;
  input_.append(bytes);
  input_ends_ = is_last;
  write_some();
  if (is_full()) websocket_->pause();
}

bool LiveSession::is_full() const { return !input_ends_ && input_.size() - input_at_ > kMostInput; }

void LiveSession::write_some() {
  while (input_at_ < input_.size()) {
    const ssize_t n = ::write(stdin_.get(), input_.data() + input_at_, input_.size() - input_at_);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {
      if (stdin_room_) return;
      stdin_room_ =
          std::make_unique<runtime::Writable>(house_.loop, stdin_.get(), [this] { write_some(); });
      return stdin_room_->start();
    }
    if (n < 0) input_ends_ = true;  // the program reads no more
    input_at_ = n < 0 ? input_.size() : input_at_ + static_cast<size_t>(n);
  }
  input_ = std::string();
  input_at_ = 0;
  if (stdin_room_) stdin_room_->stop();
  stdin_room_.reset();
  if (input_ends_) stdin_.reset();
  websocket_->resume();
}

void LiveSession::look() { pump(); }

// The output that the client has not taken waits where the job left it.
void LiveSession::pump() {
  if (!live_ || std::exchange(pumping_, true)) return;
  while (!websocket_->is_over() && websocket_->has_room()) {
    if (sendable(out_) > 0) {
      send_piece(Stream::kStdout, out_);
    } else if (sendable(err_) > 0) {
      send_piece(Stream::kStderr, err_);
    } else if (!take_news()) {
      break;
    }
  }
  pumping_ = false;
  const bool all_said = sendable(out_) == 0 && sendable(err_) == 0;
  if (!finished_ || websocket_->is_over() || !websocket_->has_room() || !all_said) return;
  // The beginnings of characters that have never ended.
  for (auto [stream, rest] : {std::pair(Stream::kStdout, &out_), {Stream::kStderr, &err_}}) {
    if (!rest->left().empty()) send(protocol_->output(stream, rest->left()));
  }
  // The result as a message, and as a frame.
  last_held_ = held_share(exchange_->share, 2 * finished_->json.size());
  leave(last_held_ ? protocol_->ended(*finished_) : protocol_->busy(kTooMuchHeld));
}

// False: there is none.
bool LiveSession::take_news() {
  LiveIo::News news = live_->take();
  if (stage_ < news.stage) {
    stage_ = news.stage;
    say(protocol_->stage(stage_, id_));
  }
  if (news.out.empty() && news.err.empty()) return false;
  out_.add(news.out);
  err_.add(news.err);
  return true;
}

// The number of bytes that can be sent in the next message.
size_t LiveSession::sendable(const Outgoing& from) const {
  const std::string_view piece = from.left().substr(0, kPiece);
  return protocol_->is_text() ? runtime::whole_characters(piece) : piece.size();
}

void LiveSession::send_piece(Stream stream, Outgoing& from) {
  const std::string_view piece = from.left().substr(0, sendable(from));
  if (const std::string message = protocol_->output(stream, piece); !message.empty()) send(message);
  from.sent += piece.size();
}

void LiveSession::send(const std::string& message) {
  protocol_->is_text() ? websocket_->send(message) : websocket_->send_bytes(message);
}

void LiveSession::say(const std::vector<std::string>& messages) {
  for (const std::string& message : messages) send(message);
}

void LiveSession::leave(const Goodbye& last) {
  say(last.messages);
  websocket_->close(last.code, last.reason);
}

void LiveSession::end() {
  if (is_idle()) leave({{}, kCloseGoingAway, "the service is ending"});
}

void LiveSession::on_over() {
  const auto self = shared_from_this();
  house_.deadlines.forget(std::exchange(first_by_, 0));
  stdin_room_.reset();
  stdin_.reset();
  if (live_) live_->leave();
  if (ticket_) house_.dispatcher.withdraw(*ticket_);
  house_.over(self);
}

}  // namespace service
