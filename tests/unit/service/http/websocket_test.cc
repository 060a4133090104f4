#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "service/apis/native/attach_protocol.h"
#include "service/apis/piston/connect.h"
#include "service/http/frames.h"
#include "service/http/handshake.h"

namespace service {
namespace {

using nlohmann::json;
using Stage = runtime::LiveIo::Stage;

Request handshake() {
  Request request;
  request.headers = {{"host", "127.0.0.1:8000"},
                     {"upgrade", "WebSocket"},
                     {"connection", "keep-alive, upgrade"},
                     {"sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="},
                     {"sec-websocket-version", "13"}};
  return request;
}

int status_of(const Request& request) {
  const auto answer = shake_hands(request);
  const auto* refused = std::get_if<Response>(&answer);
  return refused ? refused->status : 101;
}

Request with(const std::string& name, const std::string& value) {
  Request request = handshake();
  std::erase_if(request.headers, [&name](const auto& header) { return header.first == name; });
  request.headers.emplace_back(name, value);
  return request;
}

// Masked by nothing, so that it can be read here.
std::string frame(int first_byte, const std::string& payload) {
  REQUIRE(payload.size() < 126);
  return std::string{static_cast<char>(first_byte), static_cast<char>(0x80 | payload.size())} +
         std::string(4, '\0') + payload;
}
constexpr int kFin = 0x80, kText = 1, kClose = 8, kPing = 9;

std::string close_frame(uint16_t code, const std::string& reason = "") {
  return std::string{'\x88', static_cast<char>(2 + reason.size()), static_cast<char>(code >> 8),
                     static_cast<char>(code & 0xff)} +
         reason;
}

AttachProtocol attach() {
  static const runtime::JobDefaults kDefaults = [] {
    runtime::JobDefaults defaults;
    defaults.job.determinism_runs = 2;
    return defaults;
  }();
  return {kDefaults, [](const std::string& name) { return name == "python"; },
          sys::Milliseconds(1)};
}

piston::ConnectProtocol connect() {
  static const runtime::JobDefaults kDefaults;
  static const piston::Limits kLimits;
  return {{{"python", {3, 11, 2}, {"py"}, false}, {"c", {12, 2, 0}, {}, true}}, kLimits, kDefaults};
}

Heard hear(SessionProtocol& protocol, const std::string& text) {
  return protocol.hear({true, text});
}

Finished finished(const std::string& text) {
  Finished made;
  made.json = text;
  return made;
}

}  // namespace

TEST_CASE("a handshake is answered as the standard's example", "[service][websocket]") {
  const auto answer = shake_hands(with("sec-websocket-protocol", "a, b"), "b");
  const auto& headers = std::get<Headers>(answer);
  CHECK(headers.at(2).second == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  CHECK(headers.at(3).second == "b");
}

TEST_CASE("a page in a browser offers its token as a subprotocol", "[service][websocket]") {
  auto offered = [](const std::string& protocols) {
    return offered_token(with("sec-websocket-protocol", protocols));
  };
  CHECK(offered("zygo.attach, zygo.token.YQ") == "a");
  CHECK(offered("zygo.token.fn5-Pz8_,zygo.attach") == "~~~???");
  CHECK(offered("zygo.token.a") == "");
  CHECK(offered("zygo.token.") == "");
  CHECK(offered("zygo.attach") == std::nullopt);
  CHECK(offered_token(handshake()) == std::nullopt);
}

TEST_CASE("what is no handshake is refused", "[service][websocket]") {
  CHECK(status_of(handshake()) == 101);
  CHECK(status_of(with("upgrade", "h2c")) == 426);
  CHECK(status_of(with("connection", "upgrades")) == 426);
  CHECK(status_of(with("sec-websocket-version", "14")) == 426);
  for (const char* key :
       {"", "x", "c2hvcnQ=", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZWU="})
    CHECK(status_of(with("sec-websocket-key", key)) == 400);
  Request twice = handshake();
  twice.headers.emplace_back("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
  CHECK(status_of(twice) == 400);
  Request old = handshake();
  old.http_1_0 = true;
  CHECK(status_of(old) == 426);
}

TEST_CASE("messages come whole, however they were cut", "[service][websocket]") {
  const std::string bytes = frame(kText, "ab") + frame(kFin | kPing, "?") + frame(0, "") +
                            frame(kFin, "c") + frame(kFin | kText, "");
  for (size_t piece : {size_t{1}, size_t{3}, bytes.size()}) {
    Frames frames(16);
    std::vector<std::string> seen;
    for (size_t at = 0; at < bytes.size(); at += piece) {
      frames.feed(std::string_view(bytes).substr(at, piece));
      while (auto message = frames.take()) seen.push_back(message->bytes);
    }
    CHECK(seen == std::vector<std::string>{"abc", ""});
    CHECK(frames.take_output() == "\x8a\x01?");
    CHECK_FALSE(frames.in_message());
    CHECK(frames.held() == 0);
  }
}

TEST_CASE("a message is bounded as a whole, and what came before it is kept",
          "[service][websocket]") {
  Frames frames(4);
  frames.feed(frame(kFin | kText, "fine") + frame(kText, "abc") + frame(kFin, "de"));
  CHECK(frames.take()->bytes == "fine");
  CHECK_FALSE(frames.take());
  CHECK(frames.take_output().substr(2, 2) == "\x03\xf1");  // 1009
  CHECK(frames.is_closed());
}

TEST_CASE("a frame that announces much takes no memory for it", "[service][websocket]") {
  Frames frames(size_t{1} << 30);
  frames.feed(std::string("\x81\xff\0\0\0\0\x3f\xff\xff\xff\0\0\0\0x", 15));
  CHECK(frames.in_message());
  CHECK(frames.held() < 1024);
}

TEST_CASE("bytes are no text, and are sent as they are", "[service][websocket]") {
  Frames frames(16);
  frames.send("a");
  frames.send_bytes("\xff");
  CHECK(frames.take_output() ==
        "\x81\x01"
        "a\x82\x01\xff");
}

TEST_CASE("close is said once", "[service][websocket]") {
  Frames frames(16);
  frames.send("a");
  frames.close(4400, "why");
  frames.close(1000, "");
  frames.send("b");
  frames.ping();
  CHECK(frames.take_output() == "\x81\x01" + std::string("a") + close_frame(4400, "why"));
  CHECK(frames.take_output().empty());
  CHECK(frames.is_closed());

  Frames answering(16);
  answering.feed(frame(kFin | kClose, "\x0f\xa0"));
  CHECK(answering.take_output() == close_frame(4000));
  CHECK(answering.closed_by_peer_with() == 4000);
}

namespace {

// Each has fed the other until neither says anything more.
void talk(Frames& one, Frames& other) {
  for (;;) {
    const std::string there = one.take_output();
    other.feed(there);
    const std::string back = other.take_output();
    one.feed(back);
    if (there.empty() && back.empty()) return;
  }
}

}  // namespace

TEST_CASE("a client and a server understand each other", "[service][websocket]") {
  const size_t length = GENERATE(size_t{0}, size_t{125}, size_t{126}, size_t{65'535},
                                 size_t{65'536}, size_t{3} << 20);
  Frames client(size_t{4} << 20, Frames::Side::kClient), server(size_t{4} << 20);
  std::string bytes(length, '\0');
  for (size_t i = 0; i < length; ++i) bytes[i] = static_cast<char>(i * 31 + i / 251);
  client.send_bytes(bytes);
  client.send("to the server");
  server.send_bytes(bytes);
  server.ping();
  client.ping();
  talk(client, server);
  for (Frames* each : {&client, &server}) {
    const auto first = each->take();
    REQUIRE(first);
    CHECK_FALSE(first->is_text);
    CHECK(first->bytes == bytes);
  }
  CHECK(server.take()->bytes == "to the server");
  CHECK_FALSE(client.is_closed());
  client.close(1001, "leaving");
  talk(client, server);
  CHECK(server.closed_by_peer_with() == 1001);
  CHECK(server.reason_of_peer() == "leaving");
  CHECK(server.is_closed());
}

TEST_CASE("a client hears the close of a server, and answers it", "[service][websocket]") {
  Frames client(16, Frames::Side::kClient), server(16);
  server.close(4001, "why");
  talk(server, client);
  CHECK(client.is_closed());
  CHECK(client.closed_by_peer_with() == 4001);
  CHECK(client.reason_of_peer() == "why");
}

TEST_CASE("a client masks each frame anew", "[service][websocket]") {
  Frames client(16, Frames::Side::kClient);
  constexpr size_t kFrame = 2 + 4 + 1;
  std::set<std::string> masks;
  for (int i = 0; i < 1000; ++i) client.send_bytes("x");
  const std::string said = client.take_output();
  REQUIRE(said.size() == 1000 * kFrame);
  for (size_t at = 0; at < said.size(); at += kFrame) {
    REQUIRE(said.substr(at, 2) == "\x82\x81");
    masks.insert(said.substr(at + 2, 4));
    REQUIRE((said[at + 6] ^ said[at + 2]) == 'x');
  }
  CHECK(masks.size() > 990);  // of 32 bits each
}

TEST_CASE("a client masks even what it says of malformed frames", "[service][websocket]") {
  Frames client(16, Frames::Side::kClient), server(16);
  // Bits that mean nothing; a length that could be shorter.
  const std::string malformed =
      GENERATE(as<std::string>{}, "\xf2\x01x", std::string("\x82\x7e\0\1x", 5));
  client.feed(malformed);
  const std::string said = client.take_output();
  REQUIRE(said.size() == 8);
  CHECK(said.substr(0, 2) == "\x88\x82");
  server.feed(said);
  CHECK(server.closed_by_peer_with() == 1002);
}

TEST_CASE("neither side takes the frames of its own", "[service][websocket]") {
  Frames client(16, Frames::Side::kClient), server(16);
  client.feed(frame(kFin | kText, "masked"));
  CHECK_FALSE(client.take());
  CHECK_FALSE(client.take_output().empty());
  CHECK(client.is_closed());
  server.feed("\x81\x01x");
  CHECK_FALSE(server.take());
  CHECK_FALSE(server.take_output().empty());
  CHECK(server.is_closed());
}

TEST_CASE("a client refuses a message that is too long", "[service][websocket]") {
  Frames client(4, Frames::Side::kClient), server(64);
  server.send_bytes("12345");
  talk(server, client);
  CHECK_FALSE(client.take());
  CHECK(server.closed_by_peer_with() == kCloseTooBig);
}

TEST_CASE("an attached job is run once, whatever the service's defaults say", "[service][attach]") {
  AttachProtocol protocol = attach();
  const Heard heard = hear(protocol, R"({"source": "print", "stdin": "x"})");
  REQUIRE(heard.job);
  CHECK(heard.job->determinism_runs == 1);
  CHECK(hear(protocol, R"({"source": ""})").refusal->code == 4400);  // there is a job already
}

TEST_CASE("what an attached client may say", "[service][attach]") {
  AttachProtocol protocol = attach();
  (void)hear(protocol, R"({"source": ""})");
  CHECK(hear(protocol, R"({"text": "a\n", "type": "stdin"})").input == "a\n");
  const Heard last = hear(protocol, R"({"type": "stdin", "base64": "/wA=", "end": true})");
  CHECK(last.input == std::string("\xff\0", 2));
  CHECK(last.end_of_input);
  CHECK(hear(protocol, R"({"type": "cancel"})").cancel);
  const Heard wrong = hear(protocol, R"({"type": "stdin", "text": 1})");
  const json said = json::parse(wrong.refusal->messages.at(0));
  CHECK(said.at("type") == "error");
  CHECK(said.at("error").at("message").get<std::string>().starts_with("text: "));
}

TEST_CASE("output that is no text goes as base64, and the result is the last word",
          "[service][attach]") {
  AttachProtocol protocol = attach();
  CHECK(protocol.output(runtime::Stream::kStdout, "\xe2\x82\xac\"") ==
        "{\"type\":\"stdout\",\"text\":\"\xe2\x82\xac\\\"\"}");
  CHECK(protocol.output(runtime::Stream::kStderr, "\xff") ==
        R"({"type":"stderr","base64":"/w=="})");
  const Goodbye last = protocol.ended(finished(R"({"id":"a"})"));
  CHECK(last.messages == std::vector<std::string>{R"({"type":"result","id":"a"})"});
  CHECK(last.code == 1000);
  const Goodbye busy = protocol.busy({"full", 7});
  CHECK(busy.code == 4429);
  CHECK(json::parse(busy.messages.at(0)).at("retry_after") == 7);
}

TEST_CASE("a Piston client that is wrong gets the original's codes", "[service][piston]") {
  const std::string init =
      R"({"type":"init","language":"py","version":"3","files":[{"content":"x"}]})";
  const std::string data = R"({"type":"data","stream":"stdin","data":"x"})";
  piston::ConnectProtocol protocol = connect();
  CHECK(hear(protocol, data).refusal->code == 4003);
  CHECK_FALSE(hear(protocol, R"({"type":"?"})").refusal);
  CHECK_FALSE(hear(protocol, "1").refusal);
  CHECK(hear(protocol, "{").refusal->code == 4002);
  CHECK(hear(protocol, "null").refusal->code == 4002);
  const Heard started = protocol.hear({false, init});  // text or not, as the original
  REQUIRE(started.job);
  CHECK(started.job->stdin_bytes.empty());
  CHECK(started.job->limits.out == runtime::Limits{}.out);
  CHECK(hear(protocol, init).refusal->code == 4000);
  CHECK(hear(protocol, data).input == "x");
  CHECK(hear(protocol, R"({"type":"data","stream":"stderr","data":"x"})").refusal->code == 4004);
  CHECK(hear(protocol, R"({"type":"data","stream":"stdin","data":1})").refusal->code == 4002);
  CHECK(hear(protocol, R"({"type":"signal","signal":"SIGRTMAX-14"})").signal == 50);
  CHECK(hear(protocol, R"({"type":"signal","signal":"SIGRTMIN+15"})").signal == 49);
  CHECK(hear(protocol, R"({"type":"signal","signal":"SIGRTMIN+16"})").refusal->code == 4005);
  CHECK(hear(protocol, R"({"type":"signal","signal":9})").refusal->code == 4005);
}

TEST_CASE("a Piston client of a compiled language sees both stages, cached or not",
          "[service][piston]") {
  const std::string init =
      R"({"type":"init","language":"c","version":"*","files":[{"content":"x"}]})";
  const auto kind = [](const std::string& text) {
    const json read = json::parse(text);
    return read.at("type").get<std::string>() + " " + read.at("stage").get<std::string>();
  };
  for (const bool cached : {false, true}) {
    piston::ConnectProtocol protocol = connect();
    (void)hear(protocol, init);
    std::vector<std::string> said;
    if (!cached) said = protocol.stage(Stage::kBuilding, "");
    for (const std::string& text : protocol.stage(Stage::kRunning, "")) said.push_back(text);
    REQUIRE(said.size() == 3);
    CHECK(kind(said[0]) == "stage compile");
    CHECK(kind(said[1]) == "exit compile");
    CHECK(kind(said[2]) == "stage run");
  }
}

}  // namespace service
