#include "tools/cli/kernel/message.h"

#include <catch2/catch.hpp>

namespace {

cli::Message request() {
  cli::Message made;
  made.identities = {"client"};
  made.header = {{"msg_id", "1"}, {"msg_type", "execute_request"}};
  made.content = {{"code", "1"}, {"silent", true}, {"n", 3}};
  return made;
}

}  // namespace

TEST_CASE("a signature is that of RFC 4231", "[jupyter]") {
  CHECK(cli::signature_of("Jefe", {"what do ya want ", "for nothing?"}) ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST_CASE("a message that was written is read as it was", "[jupyter]") {
  auto read = cli::read_message(cli::write_message(request(), "key"), "key");
  REQUIRE(read);
  CHECK(read->identities == request().identities);
  CHECK(read->type() == "execute_request");
  CHECK(read->content == request().content);
}

TEST_CASE("a message with another key or a changed part is refused", "[jupyter]") {
  const std::string wrong = "the signature of a message is wrong";
  cli::Frames frames = cli::write_message(request(), "key");
  CHECK(cli::read_message(frames, "other").error().text() == wrong);
  frames.back() = R"({"code": "2"})";
  CHECK(cli::read_message(frames, "key").error().text() == wrong);
  frames[2].clear();
  CHECK(cli::read_message(frames, "key").error().text() == wrong);
}

TEST_CASE("frames that are no message are refused", "[jupyter]") {
  CHECK(!cli::read_message({}, "key"));
  CHECK(!cli::read_message({"<IDS|MSG>"}, "key"));
  const cli::Frames signed_text{
      "<IDS|MSG>", cli::signature_of("key", {"[]", "{}", "{}", "{}"}), "[]", "{}", "{}", "{}"};
  CHECK(cli::read_message(signed_text, "key").error().text() ==
        "a part of a message is no object of JSON");
}

TEST_CASE("members of a content that are of another type are not there", "[jupyter]") {
  const nlohmann::json content = request().content;
  CHECK(cli::text_of(content, "code") == "1");
  CHECK(cli::text_of(content, "n").empty());
  CHECK(cli::flag_of(content, "silent", false));
  CHECK(cli::flag_of(content, "n", true));
  CHECK(cli::number_of(content, "n", 0) == 3);
  CHECK(cli::number_of(content, "code", 5) == 5);
}
