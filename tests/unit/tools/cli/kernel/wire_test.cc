#include "tools/cli/kernel/wire.h"

#include <catch2/catch.hpp>

namespace cli {
namespace {

service::jupyter::Message request() {
  service::jupyter::Message made;
  made.identities = {"client"};
  made.header = {{"msg_id", "1"}, {"msg_type", "execute_request"}};
  made.content = {{"code", "1"}, {"silent", true}, {"n", 3}};
  return made;
}

}  // namespace

TEST_CASE("a signature is that of RFC 4231", "[jupyter]") {
  CHECK(signature_of("Jefe", {"what do ya want ", "for nothing?"}) ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST_CASE("a message that was written is read as it was", "[jupyter]") {
  auto read = read_message(write_message(request(), "key"), "key");
  REQUIRE(read);
  CHECK(read->identities == request().identities);
  CHECK(read->type() == "execute_request");
  CHECK(read->content == request().content);
}

TEST_CASE("a message with another key or a changed part is refused", "[jupyter]") {
  const std::string wrong = "the signature of a message is wrong";
  Frames frames = write_message(request(), "key");
  CHECK(read_message(frames, "other").error().text() == wrong);
  frames.back() = R"({"code": "2"})";
  CHECK(read_message(frames, "key").error().text() == wrong);
  frames[2].clear();
  CHECK(read_message(frames, "key").error().text() == wrong);
}

TEST_CASE("frames that are no message are refused", "[jupyter]") {
  CHECK(!read_message({}, "key"));
  CHECK(!read_message({"<IDS|MSG>"}, "key"));
  const Frames signed_text{
      "<IDS|MSG>", signature_of("key", {"[]", "{}", "{}", "{}"}), "[]", "{}", "{}", "{}"};
  CHECK(read_message(signed_text, "key").error().text() ==
        "a part of a message is no object of JSON");
}

}  // namespace cli
