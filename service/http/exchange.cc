#include "service/http/exchange.h"

#include <fmt/format.h>

#include <ctime>

#include "service/http/connection.h"
#include "service/http/content_coding.h"
#include "service/http/gzip.h"

namespace service {

Exchange::Exchange(Connection& connection, Request given, Peer from, Allowance::Share held)
    : request(std::move(given)),
      peer(std::move(from)),
      client(held.client()),
      share(std::move(held)),
      connection_(&connection),
      began_(sys::monotonic_now()) {}

namespace {

// A longer body is sent as it is, rather than copied behind its head.
constexpr size_t kJoined = size_t{64} << 10;

// A body deflated at once takes up to 0.3 ms, and 1.5 where it hardly gets shorter; a longer one is
// deflated on another thread, and one that is longer than the most is not deflated.
constexpr size_t kDeflatedAtOnce = size_t{32} << 10;
constexpr size_t kMostDeflated = size_t{16} << 20;

// The date as RFC 9110 wants it: "Sun, 06 Nov 1994 08:49:37 GMT".
std::string date_text() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char text[40];
  return {text, std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &utc)};
}

// `held` counts as many bytes as the body has. A body that does not get shorter stays as it is.
void deflate_body(Response& response, std::shared_ptr<Allowance::Share> held) {
  std::optional<std::string> shorter = deflated(response.body);
  if (!shorter) return;
  response.body = *std::move(shorter);
  response.held = std::move(held);
  response.headers.emplace_back("Content-Encoding", "gzip");
}

}  // namespace

std::string Exchange::head_of(const Response& response, bool streamed) const {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\nDate: {}\r\n", response.status,
                                 reason_of(response.status), date_text());
  const bool bodiless = response.status == 204 || response.status == 304;
  if (!bodiless) head += fmt::format("Content-Type: {}\r\n", response.type);
  if (bodiless) {
    // By RFC 9110 these two end with their head, and have no length.
  } else if (!streamed) {
    head += fmt::format("Content-Length: {}\r\n", response.body.size());
  } else if (chunked_) {
    head += "Transfer-Encoding: chunked\r\n";
  }
  for (const Headers* each : {&headers, &response.headers}) {
    for (const auto& [name, value] : *each) head += fmt::format("{}: {}\r\n", name, value);
  }
  if (close_) {
    head += "Connection: close\r\n";
  } else if (request.http_1_0) {
    head += "Connection: keep-alive\r\n";
  }
  return head + "\r\n";
}

void Exchange::answer(Response response) {
  if (!connection_ || begun_) return;
  begun_ = true;
  status_ = response.status;
  if (!is_worth_deflating(response)) return send_whole(std::move(response));
  response.headers.emplace_back("Vary", "Accept-Encoding");
  if (!accepts_gzip(request.headers) || response.body.size() > kMostDeflated)
    return send_whole(std::move(response));
  answer_deflated(std::move(response));
}

// Null: there is no room for another form of the answer.
std::shared_ptr<Allowance::Share> Exchange::share_for(const Response& response) const {
  auto held = std::make_shared<Allowance::Share>(connection_->host().bodies(), client);
  return held->resize(response.body.size()) ? held : nullptr;
}

void Exchange::answer_deflated(Response response) {
  std::shared_ptr<Allowance::Share> held = share_for(response);
  if (held && response.body.size() > kDeflatedAtOnce) {
    auto shared = std::make_shared<Response>(std::move(response));
    auto work = [shared, held] { deflate_body(*shared, held); };
    auto then = [self = shared_from_this(), shared] {
      if (self->connection_) self->send_whole(std::move(*shared));
    };
    return connection_->host().aside(client, std::move(work), std::move(then));
  }
  if (held) deflate_body(response, std::move(held));
  send_whole(std::move(response));
}

void Exchange::send_whole(Response response) {
  close_ = response.close || !request.keep_alive || connection_->draining();
  std::string text = head_of(response, false);
  if (request.method == Method::kHead) response.body.clear();
  sent_ = response.body.size();
  if (response.body.size() <= kJoined) text += std::exchange(response.body, "");
  connection_->send(std::move(text), response.held);
  connection_->send(std::move(response.body), std::move(response.held));
  complete();
}

void Exchange::begin(Response head) {
  if (!connection_ || begun_) return;
  begun_ = true;
  status_ = head.status;
  chunked_ = !request.http_1_0;
  close_ = head.close || !request.keep_alive || !chunked_ || connection_->draining();
  connection_->send(head_of(head, true));
  write(std::move(head.body));
}

void Exchange::write(std::string piece, std::shared_ptr<void> held) {
  if (!connection_ || piece.empty()) return;
  sent_ += piece.size();
  if (!chunked_) return connection_->send(std::move(piece), std::move(held));
  std::string chunk = fmt::format("{:x}\r\n", piece.size());
  if (piece.size() > kJoined) {
    connection_->send(std::move(chunk));
    connection_->send(std::move(piece), std::move(held));
    return connection_->send("\r\n");
  }
  chunk += piece;
  chunk += "\r\n";
  connection_->send(std::move(chunk), std::move(held));
}

void Exchange::end() {
  if (!connection_) return;
  if (chunked_) connection_->send("0\r\n\r\n");
  complete();
}

void Exchange::abort() {
  if (!connection_) return;
  chunked_ ? connection_->drop() : connection_->reset();
}

void Exchange::upgrade(const Headers& words, std::function<void(std::string_view)> arrived) {
  if (!connection_ || begun_) return;
  begun_ = close_ = true;
  status_ = 101;
  arrived_ = std::move(arrived);
  std::string head =
      fmt::format("HTTP/1.1 101 {}\r\nDate: {}\r\n", reason_of(status_), date_text());
  for (const auto& [name, value] : words) head += fmt::format("{}: {}\r\n", name, value);
  connection_->send(head + "\r\n");
  if (connection_) connection_->upgraded();
}

void Exchange::pause() { paused_ = true; }

void Exchange::resume() {
  if (!std::exchange(paused_, false) || !connection_) return;
  connection_->resumed();
}

bool Exchange::has_room() const { return connection_ != nullptr && connection_->has_room(); }

void Exchange::complete() {
  auto self = shared_from_this();  // the connection lets go of us
  gone_ = room_ = nullptr;
  arrived_ = nullptr;
  std::exchange(connection_, nullptr)->completed(close_);
}

void Exchange::lose() {
  connection_ = nullptr;
  lost_ = true;
  room_ = nullptr;
  arrived_ = nullptr;
  if (auto gone = std::exchange(gone_, nullptr)) gone();
}

}  // namespace service
