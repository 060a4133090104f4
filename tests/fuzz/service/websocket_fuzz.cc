// A hostile client's whole connection: the request, its upgrade, frames, and what the messages mean
// in either API; or a hostile server's frames. The first byte says which API, whether the request
// is among the bytes, and whether it is a server's; the second how long the pieces are: what is
// understood must not depend on how the network cut it.

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "service/apis/native/attach_protocol.h"
#include "service/apis/piston/connect.h"
#include "service/http/frames.h"
#include "service/http/handshake.h"
#include "service/http/request_parser.h"
#include "tests/fuzz/input.h"

namespace {

using service::Frames;
using service::Heard;

constexpr size_t kMostMessage = 1024;
constexpr std::string_view kClientsPong = "\x8a\x80", kServersPong{"\x8a\0", 2};
constexpr std::string_view kRequest =
    "GET /v1/attach HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";

void check_goodbye(const service::Goodbye& last) {
  VERIFY(last.code >= 1000 && last.code < 5000 && last.reason.size() <= 123);
  for (const std::string& message : last.messages)
    VERIFY(nlohmann::json::parse(message, nullptr, false).is_object());
}

std::string text_of(const Heard& heard) {
  if (heard.refusal) {
    check_goodbye(*heard.refusal);
    return "refused " + std::to_string(heard.refusal->code);
  }
  if (heard.job) return "job " + heard.job->source;
  return "input " + heard.input + (heard.end_of_input ? " end" : "") +
         (heard.cancel ? " cancel" : "") + " " + std::to_string(heard.signal);
}

std::unique_ptr<service::SessionProtocol> make_protocol(bool piston) {
  static const runtime::JobDefaults kDefaults;
  static const service::piston::Limits kLimits;
  static const std::vector<service::piston::Language> kLanguages = {
      {"python", {3, 11, 2}, {"py"}, false}, {"cpp", {12, 2, 0}, {"c++"}, true}};
  if (piston)
    return std::make_unique<service::piston::ConnectProtocol>(kLanguages, kLimits, kDefaults);
  const auto knows = [](const std::string& name) { return name.starts_with("python"); };
  return std::make_unique<service::AttachProtocol>(kDefaults, knows, sys::Milliseconds(1));
}

// True once the connection has become a WebSocket; what is left of `bytes` is its.
bool upgrade(std::string_view& bytes, size_t piece) {
  service::RequestParser parser({.head = 4096, .target = 64, .headers = 16, .body = 64});
  while (!bytes.empty() && parser.state() < service::RequestParser::State::kComplete)
    bytes.remove_prefix(parser.feed(bytes.substr(0, piece)));
  if (parser.state() != service::RequestParser::State::kComplete) return false;
  const service::Request request = parser.take();
  const auto headers = service::shake_hands(request, "zygo.attach");
  if (const auto* refused = std::get_if<service::Response>(&headers)) {
    VERIFY(refused->status == 400 || refused->status == 426);
    return false;
  }
  return true;
}

std::vector<std::string> understand(std::string_view bytes, size_t piece, bool piston) {
  std::vector<std::string> seen;
  Frames frames(kMostMessage);
  const std::unique_ptr<service::SessionProtocol> protocol = make_protocol(piston);
  while (!bytes.empty() && !frames.is_closed()) {
    const std::string_view given = bytes.substr(0, piece);
    bytes.remove_prefix(given.size());
    frames.feed(given);
    bool refused = false;
    while (auto message = refused ? std::nullopt : frames.take()) {
      VERIFY(message->bytes.size() <= kMostMessage);
      const Heard heard = protocol->hear(*message);
      seen.push_back(text_of(heard));
      refused = heard.refusal.has_value();
      if (refused) frames.close(heard.refusal->code, heard.refusal->reason);
    }
    VERIFY(refused || frames.held() <= 2 * kMostMessage);
    (void)frames.take_output();
  }
  seen.emplace_back(frames.is_closed() ? "closed" : "open");
  return seen;
}

// What a client understands of a server. A server understands all that the client says, and hears
// of its end.
std::vector<std::string> understand_as_client(std::string_view bytes, size_t piece) {
  std::vector<std::string> seen;
  Frames client(kMostMessage, Frames::Side::kClient), server(kMostMessage);
  while (!bytes.empty() && !client.is_closed()) {
    const std::string_view given = bytes.substr(0, piece);
    bytes.remove_prefix(given.size());
    client.feed(given);
    while (auto message = client.take()) {
      VERIFY(message->bytes.size() <= kMostMessage);
      seen.push_back(message->bytes);
      message->is_text ? client.send(message->bytes) : client.send_bytes(message->bytes);
    }
    VERIFY(client.held() <= 2 * kMostMessage);
    server.feed(client.take_output());
    while (server.take()) continue;
  }
  (void)server.take_output();
  VERIFY(server.is_closed() == client.is_closed());
  seen.emplace_back(client.is_closed() ? "closed" : "open");
  return seen;
}

// wslay leaves out two bytes of each piece when it checks the reason of a close, so one that is cut
// may be refused earlier or later, but not after its end. Empty pongs complete it, and mean nothing
// elsewhere.
using Understand = std::function<std::vector<std::string>(std::string_view, size_t)>;
bool is_same(std::string_view bytes, size_t piece, const Understand& understood,
             std::string_view pong) {
  if (understood(bytes, bytes.size() + 1) == understood(bytes, piece)) return true;
  std::string completed(bytes);
  for (int i = 0; i < 75; ++i) completed += pong;
  return understood(completed, completed.size()) == understood(completed, piece);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  const uint8_t kind = input.byte();
  const bool piston = (kind & 1) != 0, has_request = (kind & 2) != 0;
  const size_t piece = size_t{1} + input.byte() % 32;
  const std::string_view rest = input.rest().substr(0, 4096);
  if ((kind & 4) != 0) {
    VERIFY(is_same(rest, piece, understand_as_client, kServersPong));
    return 0;
  }
  std::string_view whole = has_request ? rest : kRequest, cut = whole;
  const bool upgraded = upgrade(whole, whole.size() + 1);
  if (has_request) VERIFY(upgrade(cut, piece) == upgraded);
  if (!upgraded) return 0;
  const std::string_view frames = has_request ? whole : rest;
  const auto understood = [piston](std::string_view all, size_t step) {
    return understand(all, step, piston);
  };
  VERIFY(is_same(frames, piece, understood, kClientsPong));
  return 0;
}
