#include "service/apis/mcp/json_rpc.h"

#include <catch2/catch.hpp>

namespace service::mcp {
namespace {

using Kind = Message::Kind;

Message only(std::string_view text) {
  const Incoming incoming = read_messages(text);
  REQUIRE(incoming.error == 0);
  REQUIRE(incoming.messages.size() == 1);
  return incoming.messages[0];
}

TEST_CASE("a request has an id, a notification has none", "[mcp]") {
  const Message request = only(R"({"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":[1]}})");
  CHECK(request.kind == Kind::kRequest);
  CHECK(request.id == 7);
  CHECK(request.method == "ping");
  CHECK(request.params == Json{{"a", {1}}});
  CHECK(only(R"({"jsonrpc":"2.0","id":"x","method":"ping"})").id == "x");
  CHECK(only(R"({"jsonrpc":"2.0","method":"ping"})").kind == Kind::kNotification);
  CHECK(only(R"({"jsonrpc":"2.0","id":1,"result":{}})").kind == Kind::kResponse);
}

TEST_CASE("a message of a wrong form says what is wrong, with its id where that is one", "[mcp]") {
  const auto [text, id, why] = GENERATE(table<std::string, Json, std::string>(
      {{"1", nullptr, "a message is an object"},
       {R"({"id":1,"method":"ping"})", 1, "jsonrpc: expected \"2.0\""},
       {R"({"jsonrpc":"1.0","id":1,"method":"ping"})", 1, "jsonrpc: expected \"2.0\""},
       {R"({"jsonrpc":"2.0","id":null,"method":"ping"})", nullptr,
        "id: expected a string or a whole number"},
       {R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})", nullptr,
        "id: expected a string or a whole number"},
       {R"({"jsonrpc":"2.0","id":1})", 1, "method: required"},
       {R"({"jsonrpc":"2.0","id":1,"method":2})", 1, "method: expected a string"},
       {R"({"jsonrpc":"2.0","id":1,"method":"m","params":[]})", 1, "params: expected an object"}}));
  const Message message = only(text);
  CHECK(message.kind == Kind::kInvalid);
  CHECK(message.id == id);
  CHECK(message.why == why);
}

TEST_CASE("what is no JSON, and a batch without messages or with too many, is refused as a whole",
          "[mcp]") {
  CHECK(read_messages("{").error == kParseError);
  CHECK(read_messages("").error == kParseError);
  CHECK(read_messages("[]").error == kInvalidRequest);
  Json many = Json::array();
  for (size_t i = 0; i <= Incoming::kMostInBatch; ++i) many.push_back(Json::object());
  CHECK(read_messages(many.dump()).error == kInvalidRequest);
  many.erase(0);
  const Incoming most = read_messages(many.dump());
  CHECK(most.error == 0);
  CHECK(most.is_batch);
  CHECK(most.messages.size() == Incoming::kMostInBatch);
}

TEST_CASE("a message is one line, whatever is in it", "[mcp]") {
  const std::string line = line_of(answer_of(1, {{"text", "a\nb\xff"}}));
  CHECK(line.find('\n') == line.npos);
  CHECK(Json::parse(line)["result"]["text"] == "a\nb\xEF\xBF\xBD");
}

}  // namespace
}  // namespace service::mcp
