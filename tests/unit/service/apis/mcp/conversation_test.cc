#include "service/apis/mcp/conversation.h"

#include <catch2/catch.hpp>

#include "tests/unit/service/apis/mcp/fake_interpreter.h"

namespace service::mcp {
namespace {

// A client of a conversation over a fake session.
struct Client {
  FakeWorld world;
  std::unique_ptr<Conversation> conversation =
      std::make_unique<Conversation>(std::make_unique<FakeInterpreter>(world), "1.2");
  std::vector<Json> notified;
  std::vector<std::string> answers;
  Conversation::Handle handle = 0;

  explicit Client(std::string_view version = kNewestVersion) {
    if (!version.empty()) request(0, "initialize", {{"protocolVersion", version}});
    answers.clear();
  }

  void send(const std::string& text) {
    handle = conversation->receive(
        read_messages(text),
        {[this](const std::string& line) { notified.push_back(Json::parse(line)); },
         [this](const std::string& line) { answers.push_back(line); }});
  }
  // The answer; null: none has come yet.
  Json request(const Json& id, const std::string& method, const Json& params = Json::object()) {
    send(line_of({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}));
    return answers.empty() || answers.back().empty() ? Json() : Json::parse(answers.back());
  }
  Json tool(const Json& id, const std::string& name, const Json& arguments, const Json& meta = {}) {
    Json params = {{"name", name}, {"arguments", arguments}};
    if (!meta.is_null()) params["_meta"] = meta;
    const Json answer = request(id, "tools/call", params);
    return answer.is_object() && answer.contains("result") ? answer["result"] : answer;
  }
  Json python(const Json& id, const std::string& code, const Json& meta = {}) {
    return tool(id, "run_python", {{"code", code}}, meta);
  }
  void cancel(const Json& id) {
    send(line_of(notification_of("notifications/cancelled", {{"requestId", id}})));
  }
  void end_waiting() {
    auto waiting = std::exchange(world.waiting, {});
    for (auto& [ticket, end] : waiting) end(false);
  }
  size_t step_of(const Json& result) { return result["structuredContent"]["step"]; }
};

int code_of(const Json& answer) { return answer["error"]["code"]; }

TEST_CASE("an answer that would be too much becomes an error with its id", "[mcp]") {
  Client client(kVersionWithBatches);
  size_t held = 0;
  const auto call = [](int id, const std::string& code) {
    return Json{{"jsonrpc", "2.0"},
                {"id", id},
                {"method", "tools/call"},
                {"params", {{"name", "run_python"}, {"arguments", {{"code", code}}}}}};
  };
  const Json batch = {call(1, "short"), call(2, std::string(5000, 'x'))};
  client.conversation->receive(
      read_messages(line_of(batch)),
      {[](const std::string&) {},
       [&client](const std::string& line) { client.answers.push_back(line); },
       [&held](size_t bytes) { return bytes < 4000 && (held += bytes) > 0; }});
  const Json answers = Json::parse(client.answers.back());
  REQUIRE(answers.size() == 2);
  CHECK(answers[0]["id"] == 1);
  CHECK(answers[0].contains("result"));
  CHECK(held == line_of(answers[0]).size());
  CHECK(answers[1]["id"] == 2);
  CHECK(code_of(answers[1]) == -32001);
}

TEST_CASE("a version that is known is taken, else the newest is offered", "[mcp]") {
  Client client("");
  for (const auto& [wanted, given] : {std::pair{"2025-03-26", "2025-03-26"},
                                      {"2025-06-18", "2025-06-18"},
                                      {"2024-11-05", "2024-11-05"},
                                      {"1999", "2025-06-18"}}) {
    const Json answer = client.request(1, "initialize", {{"protocolVersion", wanted}});
    CHECK(answer["result"]["protocolVersion"] == given);
    CHECK(answer["result"]["serverInfo"]["name"] == "zygo");
    CHECK(answer["result"]["serverInfo"]["version"] == "1.2");
    CHECK(answer["result"]["capabilities"].contains("tools"));
  }
  CHECK(code_of(client.request(1, "initialize")) == kInvalidParams);
}

TEST_CASE("before initialize there is ping and nothing else", "[mcp]") {
  Client client("");
  CHECK(client.request(1, "ping")["result"] == Json::object());
  CHECK(code_of(client.request(2, "tools/list")) == kInvalidRequest);
  CHECK(code_of(client.python(3, "x")) == kInvalidRequest);
  CHECK(client.world.begun.empty());
}

TEST_CASE("methods and tools that there are not are refused", "[mcp]") {
  Client client;
  CHECK(code_of(client.request(1, "resources/list")) == kMethodNotFound);
  CHECK(code_of(client.tool(2, "rm", Json::object())) == kInvalidParams);
  CHECK(code_of(client.tool(3, "run_python", {{"code", 7}})) == kInvalidParams);
  client.send("{");
  CHECK(code_of(Json::parse(client.answers.back())) == kParseError);
}

TEST_CASE("a notification and an answer get no answer", "[mcp]") {
  Client client;
  client.send(line_of(notification_of("notifications/initialized", Json::object())));
  client.send(R"({"jsonrpc":"2.0","id":1,"result":{}})");
  CHECK(client.answers == std::vector<std::string>{"", ""});
}

TEST_CASE("a batch is answered at once where the version has batches", "[mcp]") {
  const std::string batch = R"([{"jsonrpc":"2.0","id":1,"method":"ping"},
    {"jsonrpc":"2.0","method":"notifications/initialized"}, 3])";
  Client old("2025-03-26");
  old.send(batch);
  const Json answers = Json::parse(old.answers.back());
  REQUIRE(answers.size() == 2);
  CHECK(answers[0]["id"] == 1);
  CHECK(code_of(answers[1]) == kInvalidRequest);
  old.send(R"([{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"x"}}])");
  CHECK(code_of(Json::parse(old.answers.back())[0]) == kInvalidRequest);

  Client client;
  client.send(batch);
  CHECK(code_of(Json::parse(client.answers.back())) == kInvalidRequest);
}

TEST_CASE("structured content is for versions that have it", "[mcp]") {
  Client client, old("2025-03-26");
  CHECK(client.python(1, "x")["structuredContent"]["stdout"] == "x\n");
  const Json plain = old.python(1, "x");
  CHECK_FALSE(plain.contains("structuredContent"));
  CHECK(plain["content"][0]["text"] == "x\n");
  CHECK(old.request(2, "tools/list")["result"]["tools"].size() == 6);
}

TEST_CASE("each step goes on from the one before it, and the session begins with the first",
          "[mcp]") {
  Client client;
  CHECK(client.world.begun.empty());
  CHECK(client.step_of(client.python(1, "a")) == 1);
  CHECK(client.step_of(client.python(2, "b")) == 2);
  CHECK(client.world.run_at == std::vector<std::string>{"n-0", "n-1"});
}

TEST_CASE("a step that a limit ends is an error, and leaves the state", "[mcp]") {
  Client client;
  client.python(1, "a");
  const Json result = client.python(2, "loop");
  CHECK(result["isError"] == true);
  const std::string text = result["content"][0]["text"];
  CHECK(text.find("TimeoutException: limit cpu") != text.npos);
  CHECK(text.find("The state of the session is that before this call") != text.npos);
  CHECK(result["structuredContent"]["kept"] == false);
  CHECK(client.step_of(client.python(3, "b")) == 2);
  CHECK(client.world.run_at.back() == "n-1");
}

TEST_CASE("a step whose state cannot be kept is an error that says why", "[mcp]") {
  Client client;
  const Json result = client.python(1, "thread");
  CHECK(result["isError"] == true);
  CHECK(result["structuredContent"]["label"] == "OK");
  const std::string text = result["content"][0]["text"];
  CHECK(text.find("a second thread") != text.npos);
}

TEST_CASE("undo goes back, not further than to the beginning", "[mcp]") {
  Client client;
  for (int i = 1; i <= 3; ++i) client.python(i, "a");
  CHECK(client.step_of(client.tool(4, "undo", {{"steps", 2}})) == 1);
  CHECK(client.world.forgotten == std::vector<std::string>{"n-3", "n-2"});
  client.python(5, "b");
  CHECK(client.world.run_at.back() == "n-1");
  const Json all = client.tool(6, "undo", {{"steps", 9}});
  CHECK(all["structuredContent"]["undone"] == 2);
  CHECK(client.tool(7, "undo", Json::object())["isError"] == true);
}

TEST_CASE("a session remembers so many steps and no more", "[mcp]") {
  Client client;
  for (size_t i = 0; i < Workbench::kMostUndo + 5; ++i) client.python(i, "a");
  CHECK(client.world.forgotten.size() == 5);
  const Json all = client.tool("u", "undo", {{"steps", 1000}});
  CHECK(all["structuredContent"]["undone"] == Workbench::kMostUndo);
  CHECK(client.step_of(all) == 5);
}

TEST_CASE("programs are tried from one state, which stays unless one is kept", "[mcp]") {
  Client client;
  client.python(1, "a");
  const Json tried = client.tool(2, "try_many", {{"codes", {"b", "loop", "c"}}});
  CHECK(tried["isError"] == false);
  const Json& structure = tried["structuredContent"];
  REQUIRE(structure["results"].size() == 3);
  CHECK(structure["results"][1]["label"] == "TimeoutException");
  CHECK(structure["results"][2]["stdout"] == "c\n");
  CHECK(structure["kept"] == nullptr);
  CHECK(client.world.run_at == std::vector<std::string>{"n-0", "n-1", "n-1", "n-1"});
  CHECK(client.world.forgotten == std::vector<std::string>{"n-2", "n-3"});

  const Json kept = client.tool(3, "try_many", {{"codes", {"b", "c"}}, {"keep", 1}});
  CHECK(kept["structuredContent"]["kept"] == 1);
  CHECK(client.step_of(kept) == 2);
  client.python(4, "d");
  CHECK(client.world.run_at.back() == "n-5");
}

TEST_CASE("where the program to keep has left no state, that is an error", "[mcp]") {
  Client client;
  const Json tried = client.tool(1, "try_many", {{"codes", {"loop", "b"}}, {"keep", 0}});
  CHECK(tried["isError"] == true);
  CHECK(tried["structuredContent"]["kept"] == nullptr);
  CHECK(client.step_of(tried) == 0);
}

TEST_CASE("files are read beside the state, and written as steps", "[mcp]") {
  Client client;
  const Json read = client.tool(1, "read_file", {{"path", "f"}});
  CHECK(read["structuredContent"]["text"] == "hello");
  CHECK(client.world.forgotten == std::vector<std::string>{"n-1"});
  const Json written = client.tool(2, "write_file", {{"path", "d/f"}, {"text", "abc"}});
  CHECK(written["structuredContent"]["size"] == 3);
  CHECK(client.step_of(written) == 1);
  CHECK(Json::parse(client.world.fields.back())["files"]["d/f"]["text"] == "abc");
  CHECK(client.tool(3, "write_file", {{"path", "f"}, {"base64", "!"}})["isError"] == true);
}

TEST_CASE("a program of another language runs beside the session", "[mcp]") {
  Client client;
  const Json ran = client.tool(1, "run_program", {{"language", "c++"}, {"source", "s"}});
  CHECK(ran["structuredContent"]["label"] == "OK");
  CHECK_FALSE(ran["structuredContent"].contains("kept"));
  CHECK(Json::parse(client.world.jobs.back())["template"] == "cpp");
  CHECK(client.world.begun.empty());
}

TEST_CASE("calls that touch the state run in their order", "[mcp]") {
  Client client;
  CHECK(client.python(1, "wait").is_null());
  CHECK(client.python(2, "b").is_null());
  CHECK(client.tool(3, "run_program", {{"language", "c"}, {"source", "s"}})["isError"] == false);
  client.end_waiting();
  REQUIRE(client.answers.size() == 3);
  CHECK(Json::parse(client.answers[1])["id"] == 1);
  CHECK(Json::parse(client.answers[2])["id"] == 2);
  CHECK(client.world.run_at == std::vector<std::string>{"n-0", "n-1"});
}

TEST_CASE("a call that is cancelled is withdrawn, not answered, and changes nothing", "[mcp]") {
  Client client;
  client.python(1, "wait");
  client.python(2, "b");
  client.cancel(1);
  CHECK(client.world.withdrawn.size() == 1);
  REQUIRE(client.answers.size() == 3);  // to the first call, to the second, to the cancellation
  CHECK(client.answers[0].empty());
  CHECK(Json::parse(client.answers[1])["id"] == 2);
  CHECK(client.world.run_at == std::vector<std::string>{"n-0", "n-0"});
  client.python(3, "wait");
  client.python(4, "c");
  client.cancel(4);
  CHECK(client.world.withdrawn.size() == 1);
  client.cancel(99);
}

TEST_CASE("a call that ended while it was cancelled leaves the state as it was", "[mcp]") {
  Client client;
  client.python(1, "wait");
  auto waiting = std::exchange(client.world.waiting, {});
  client.cancel(1);
  waiting.begin()->second(false);
  CHECK(client.world.forgotten == std::vector<std::string>{"n-1"});
  CHECK(client.step_of(client.python(2, "b")) == 1);
}

TEST_CASE("two requests of one id do not run at once", "[mcp]") {
  Client client;
  client.python(1, "wait");
  CHECK(code_of(client.python(1, "b")) == kInvalidRequest);
  client.end_waiting();
  CHECK(client.python(1, "b")["isError"] == false);
}

TEST_CASE("progress is told to those who have given a token, and always grows", "[mcp]") {
  Client client;
  client.tool(1, "try_many", {{"codes", {"a", "b", "c"}}}, {{"progressToken", "t"}});
  REQUIRE(client.notified.size() == 3);
  for (size_t i = 0; i < 3; ++i) {
    CHECK(client.notified[i]["method"] == "notifications/progress");
    CHECK(client.notified[i]["params"] ==
          Json{{"progressToken", "t"}, {"progress", i}, {"total", 3}});
  }
  client.python(2, "a");
  CHECK(client.notified.size() == 3);
}

TEST_CASE("a session whose state is gone says so, and the next call begins another", "[mcp]") {
  Client client;
  client.python(1, "a");
  const Json lost = client.python(2, "gone");
  CHECK(lost["isError"] == true);
  const std::string text = lost["content"][0]["text"];
  CHECK(text.find("it made room") != text.npos);
  CHECK(client.world.ended == 1);
  CHECK(client.step_of(client.python(3, "b")) == 1);
  CHECK(client.world.begun.size() == 2);
  const Json tried = client.tool(4, "try_many", {{"codes", {"a", "gone"}}});
  CHECK(tried["isError"] == true);
  CHECK(client.world.ended == 2);
}

TEST_CASE("a session that cannot begin says why", "[mcp]") {
  Client client;
  client.world.no_beginning = "there is no memory for nodes";
  const Json result = client.python(1, "a");
  CHECK(result["isError"] == true);
  CHECK(result["content"][0]["text"] == "there is no memory for nodes");
  client.world.no_beginning.clear();
  CHECK(client.python(2, "a")["isError"] == false);
}

TEST_CASE("one client has so many calls waiting and no more", "[mcp]") {
  Client client;
  client.python(0, "wait");
  for (size_t i = 1; i <= Workbench::kMostWaiting; ++i) CHECK(client.python(i, "a").is_null());
  CHECK(client.python("one more", "a")["isError"] == true);
}

TEST_CASE("whoever has gone has their calls withdrawn", "[mcp]") {
  Client client;
  client.python(1, "wait");
  client.conversation->abandon(client.handle);
  CHECK(client.world.withdrawn.size() == 1);
  CHECK(client.answers == std::vector<std::string>{""});
}

TEST_CASE("a session that ends answers those who wait, and frees everything", "[mcp]") {
  Client client;
  client.python(1, "wait");
  client.conversation->close();
  REQUIRE(client.answers.size() == 1);
  CHECK(Json::parse(client.answers[0])["error"]["message"] == "the session has ended");
  client.conversation.reset();
  CHECK(client.world.withdrawn.size() == 1);
  CHECK(client.world.ended == 1);
  CHECK(client.answers.size() == 1);
}

}  // namespace
}  // namespace service::mcp
