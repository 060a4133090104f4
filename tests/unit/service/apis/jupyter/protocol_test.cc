#include "service/apis/jupyter/protocol.h"

#include <catch2/catch.hpp>

namespace service::jupyter {
namespace {

using nlohmann::json;

Message request() {
  Message made;
  made.header = {{"msg_id", "1"}, {"msg_type", "execute_request"}, {"session", "s"}};
  made.parent = {{"msg_id", "0"}};
  made.content = {{"code", "1"}};
  return made;
}

json said(const char* channel, json header) {
  return {{"channel", channel}, {"header", std::move(header)}, {"content", {{"code", "1"}}}};
}

}  // namespace

TEST_CASE("a message is read as it was written, in both forms", "[jupyter]") {
  for (const bool is_binary : {false, true}) {
    const std::string bytes = is_binary ? write_binary_message(Channel::kShell, request())
                                        : write_channel_message(Channel::kShell, request());
    const auto read = is_binary ? read_binary_message(bytes) : read_channel_message(bytes);
    REQUIRE(read);
    CHECK(read->channel == Channel::kShell);
    CHECK(read->message.header == request().header);
    CHECK(read->message.parent == request().parent);
    CHECK(read->message.content == request().content);
    CHECK(read->bytes > 0);
  }
}

TEST_CASE("only clients' channels are read, and headers that are short", "[jupyter]") {
  const json header = {{"msg_type", "execute_request"}, {"more", std::string(1000, 'x')}};
  for (const char* channel : {"shell", "control", "stdin"}) {
    const auto read = read_channel_message(said(channel, header).dump());
    REQUIRE(read);
    CHECK(read->message.header == json{{"msg_type", "execute_request"}});
  }
  json unnamed = said("shell", header);
  unnamed.erase("channel");
  CHECK(read_channel_message(unnamed.dump())->channel == Channel::kShell);
  for (const char* channel : {"iopub", "hb", ""})
    CHECK_FALSE(read_channel_message(said(channel, header).dump()));
  CHECK_FALSE(read_channel_message(said("shell", json::object()).dump()));
  const json long_one = {{"msg_type", "execute_request"}, {"session", std::string(201, 's')}};
  CHECK_FALSE(read_channel_message(said("shell", long_one).dump()));
  for (const char* text : {"", "[", "[]", "1", "{}"}) CHECK_FALSE(read_channel_message(text));
}

TEST_CASE("a binary message whose parts are not there is none", "[jupyter]") {
  const std::string whole = write_binary_message(Channel::kShell, request());
  for (size_t size = 0; size < whole.size(); ++size)
    CHECK_FALSE(read_binary_message(whole.substr(0, size)));
  for (size_t at = 0; at < 7 * sizeof(uint64_t); ++at) {
    std::string changed = whole;
    changed[at] = '\xff';
    const auto read = read_binary_message(changed);
    if (read) CHECK(at < sizeof(uint64_t));  // more buffers, which nobody looks at
  }
}

TEST_CASE("many small values count for what they take", "[jupyter]") {
  json message = said("shell", {{"msg_type", "execute_request"}});
  message["content"]["list"] = json::array();
  for (int i = 0; i < 1000; ++i) message["content"]["list"].push_back(json::object());
  CHECK(read_channel_message(message.dump())->bytes > 50'000);
}

TEST_CASE("a kernel is started by its name", "[jupyter]") {
  const auto started = [](std::string_view body) {
    return std::get<StartRequest>(read_start(body));
  };
  CHECK(started("").spec == "python3");
  CHECK(started(R"({"name": null})").spec == "python3");
  CHECK(started(R"({"name": "python-numpy"})").spec == "python-numpy");
  CHECK(started(R"({"env": {"KERNEL_A": "1", "HOME": "/", "KERNEL_B": 2}})").env ==
        std::map<std::string, std::string>{{"KERNEL_A", "1"}});
  for (const char* body : {"[", "[]", "7", R"({"name": 1})"})
    CHECK(std::get<Response>(read_start(body)).status == 400);

  runtime::JobDefaults defaults;
  const auto fields = [&defaults](const char* spec) {
    const auto beginning = beginning_of({.spec = spec}, defaults);
    return beginning ? json::parse(*beginning) : json();
  };
  CHECK(fields("python3")["template"] == "python");
  CHECK(fields("python3")["policy"]["profile"] == "subprocess");
  CHECK(fields("python3")["limits"]["wall_ms"].get<int>() >= 60'000);
  CHECK(fields("python-pandas")["template"] == "python-pandas");
  CHECK(fields("ruby").is_null());
  defaults.job.template_name = "python-numpy";
  defaults.job.policy.has_profile = true;
  defaults.job.limits.wall = sys::Milliseconds(3'600'000);
  CHECK(fields("python3")["template"] == "python-numpy");
  CHECK_FALSE(fields("python3").contains("policy"));
  CHECK(fields("python3")["limits"]["wall_ms"] == 3'600'000);
}

TEST_CASE("kernels that can be started are those of Python that are there", "[jupyter]") {
  InstalledRuntime numpy, ruby, absent;
  numpy.name = "python-numpy";
  numpy.how = ruby.how = absent.how = "warm";
  numpy.available = ruby.available = true;
  ruby.name = "ruby";
  absent.name = "python-pandas";
  const json specs = specs_of({numpy, ruby, absent});
  CHECK(specs["default"] == "python3");
  CHECK(specs["kernelspecs"].size() == 2);
  CHECK(specs["kernelspecs"]["python-numpy"]["name"] == "python-numpy");
}

}  // namespace service::jupyter
