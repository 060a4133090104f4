#include "service/apis/e2b/connect.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace service::e2b {

TEST_CASE("a message of a stream comes in one envelope, and goes out in one", "[apis][e2b]") {
  const std::string made = envelope("{\"a\":1}");

  CHECK(made.substr(0, 5) == std::string("\0\0\0\0\7", 5));
  CHECK(message_of(made) == "{\"a\":1}");
  CHECK(message_of(envelope("")) == "");
}

TEST_CASE("what is not one whole envelope is no message", "[apis][e2b]") {
  const std::string made = envelope("{\"a\":1}");
  std::string compressed = made, longer = made;
  compressed[0] = 1;
  longer[1] = '\x7f';

  for (const std::string& body : {std::string(), made.substr(0, 4), made.substr(0, made.size() - 1),
                                  made + "x", made + made, compressed, longer})
    CHECK_FALSE(message_of(body));
}

TEST_CASE("the last envelope of a stream says whether it failed", "[apis][e2b]") {
  const std::string well = end_of_stream(std::nullopt);
  const std::string badly = end_of_stream(RpcError{"not_found", "no such file"});

  CHECK(well == std::string("\2\0\0\0\2{}", 7));
  CHECK(badly[0] == 2);
  CHECK(nlohmann::json::parse(badly.substr(5)) ==
        nlohmann::json({{"error", {{"code", "not_found"}, {"message", "no such file"}}}}));
}

TEST_CASE("a unary call that fails has the status of its code", "[apis][e2b]") {
  CHECK(rpc_error_response({"unimplemented", "x"}).status == 501);
  CHECK(rpc_error_response({"already_exists", "x"}).status == 409);
  CHECK(rpc_error_response({"internal", "x"}).status == 500);
  const Response of_stream = stream_error_response({"unimplemented", "x"});
  CHECK(of_stream.status == 200);
  CHECK(of_stream.type == "application/connect+json");
}

TEST_CASE("the time of a call is milliseconds, or it has none", "[apis][e2b]") {
  const auto with = [](const char* text) {
    Request request;
    request.headers = {{"connect-timeout-ms", text}};
    return call_timeout(request);
  };

  CHECK(with("60000") == sys::Milliseconds(60'000));
  for (const char* text : {"", "1s", "-1", "99999999999"}) CHECK_FALSE(with(text));
  CHECK_FALSE(call_timeout({}));
}

}  // namespace service::e2b
