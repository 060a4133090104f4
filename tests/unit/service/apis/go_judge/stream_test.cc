#include "service/apis/go_judge/stream.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "service/http/frames.h"

namespace service::go_judge {

using nlohmann::json;

namespace {

const json kIn = {{"streamIn", true}}, kOut = {{"streamOut", true}};
const json kCat = {{"args", {"/bin/cat"}}, {"files", {kIn, kOut, kOut}}};

// Runs nothing: what was to be run is kept, and `answer` is what it says.
struct Bench {
  std::optional<Request> ran;
  std::shared_ptr<Response> answer;
  StreamProtocol protocol{{.read =
                               [](std::string_view text) {
                                 Places places;
                                 places.stored = [](const std::string&) { return StoredFilePtr(); };
                                 return read_run(text, places, {}, Streams::kOffered);
                               },
                           .run =
                               [this](Request request, std::shared_ptr<Response> into) {
                                 ran = std::move(request);
                                 answer = std::move(into);
                                 return Dispatcher::Run();
                               },
                           .patience = sys::Milliseconds(1)}};

  Heard hear(const std::string& message) { return protocol.hear({false, message}); }
  Heard ask(const json& command) { return hear("\1" + json{{"cmd", {command}}}.dump()); }
  uint16_t refusal_of(const std::string& message) {
    const Heard heard = hear(message);
    return heard.refusal ? heard.refusal->code : uint16_t{0};
  }
};

json results_of(const Goodbye& last) {
  REQUIRE(last.messages.size() == 1);
  REQUIRE(last.messages[0].front() == '\1');
  return json::parse(last.messages[0].substr(1));
}

std::string input(int where, const std::string& bytes) {
  return std::string{'\3', static_cast<char>(where)} + bytes;
}

}  // namespace

TEST_CASE("a stream's command is run with its client taking part", "[service][go-judge]") {
  Bench bench;
  CHECK(bench.protocol.hears_aside());
  const Heard heard = bench.ask(kCat);
  REQUIRE(heard.job);
  CHECK_FALSE(heard.end_of_input);
  CHECK_FALSE(bench.protocol.hears_aside());

  const auto live = std::make_shared<runtime::LiveIo>();
  (void)heard.run(live);
  REQUIRE(bench.ran);
  const Command& command = bench.ran->commands.front();
  CHECK(command.job.live == live);
  CHECK(command.job.limits.out == runtime::Limits{}.out);
  CHECK(command.job.limits.err == runtime::Limits{}.err);
}

TEST_CASE("a stream's input is what its descriptor gets, to the byte", "[service][go-judge]") {
  Bench bench;
  (void)bench.ask(kCat);
  const Heard heard = bench.hear(input(0, std::string("\0\xff\n", 3)));
  CHECK(heard.input == std::string("\0\xff\n", 3));
  CHECK_FALSE(heard.end_of_input);
  CHECK_FALSE(bench.hear(input(0, "")).end_of_input);  // the original's stays open, too
  for (const int wrong : {0x01, 0x10, 0xff})
    CHECK(bench.refusal_of(input(wrong, "x")) == kCloseUnsupported);
}

TEST_CASE("a stream's output is told by its descriptor, unless it is collected",
          "[service][go-judge]") {
  Bench bench;
  (void)bench.ask({{"args", {"a"}}, {"files", {nullptr, kOut, {{"name", "e"}, {"max", 9}}}}});
  CHECK(bench.protocol.output(runtime::Stream::kStdout, "\xff") == std::string("\2\1\xff"));
  CHECK(bench.protocol.output(runtime::Stream::kStderr, "x").empty());
  CHECK_FALSE(bench.protocol.is_text());

  Bench other;
  (void)other.ask({{"args", {"a"}}, {"files", {nullptr, nullptr, kOut}}});
  CHECK(other.protocol.output(runtime::Stream::kStdout, "x").empty());
  CHECK(other.protocol.output(runtime::Stream::kStderr, "x") == "\2\2x");
}

TEST_CASE("a stream's stdin may be given whole, and ends then", "[service][go-judge]") {
  Bench bench;
  const Heard heard = bench.ask({{"args", {"a"}}, {"files", {{{"content", "1 2"}}, kOut}}});
  REQUIRE(heard.job);
  CHECK((heard.job->stdin_bytes == "1 2" && heard.end_of_input));
  CHECK(bench.refusal_of(input(0, "x")) == kCloseUnsupported);
}

TEST_CASE("a stream ends with results, as of /run", "[service][go-judge]") {
  Bench bench;
  (void)bench.ask(kCat).run(nullptr);
  bench.answer->body = "[{\"status\":\"Accepted\"}]\n";
  const Goodbye last = bench.protocol.ended({});
  CHECK(last.code == kCloseNormal);
  CHECK(results_of(last) == json{{"requestId", ""}, {"results", {{{"status", "Accepted"}}}}});
}

TEST_CASE("a stream is cancelled once, and nothing is heard after it", "[service][go-judge]") {
  Bench bench;
  (void)bench.ask(kCat).run(nullptr);
  CHECK(bench.hear("\4").cancel);
  CHECK(*bench.ran->commands.front().cancelled);
  CHECK_FALSE(bench.hear("\4").cancel);
  CHECK(bench.refusal_of("nonsense") == 0);
  CHECK(results_of(bench.protocol.ended({})).at("error") == "cancelled before execute");
}

TEST_CASE("a cancelled stream is Signalled if its client did it, else our trouble",
          "[service][go-judge]") {
  const auto cancelled = std::make_shared<std::atomic<bool>>(false);
  Command command;
  command.cancelled = cancelled;
  const auto status = [&command] {
    runtime::JobResult result;
    result.verdict = {runtime::Outcome::kCancelled, "", runtime::By::kCaller, {}};
    result.exit = runtime::ExitStatus{true, 9};
    const auto keep = [](const std::string&, std::string) { return sys::Result<std::string>("I"); };
    const json told = json::parse(result_text(command, result, keep));
    return std::pair(told.at("status").get<std::string>(), told.contains("error"));
  };
  CHECK(status() == std::pair<std::string, bool>("Internal Error", true));
  *cancelled = true;
  CHECK(status() == std::pair<std::string, bool>("Signalled", false));
}

TEST_CASE("what is no message of a stream ends it by name", "[service][go-judge]") {
  for (const char* first : {"", "\2{}", "\3", "\4", "{}", "\377"})
    CHECK(Bench().refusal_of(first) == kCloseUnsupported);
  for (const char* later : {"", "\1{}", "\2{}", "\2", "\3", "\5", "{}"}) {
    Bench bench;
    (void)bench.ask(kCat);
    CHECK(bench.refusal_of(later) == kCloseUnsupported);
  }
}

TEST_CASE("a request that is none is told why", "[service][go-judge]") {
  const std::pair<std::string, const char*> refused[] = {
      {"{", "the body is not a JSON object"},
      {"{}", "no cmd provided"},
      {json{{"cmd", {kCat, kCat}}}.dump(), "cmd: a stream is of one command here"},
      {R"({"cmd": [{"args": ["a"], "tty": true}]})", "cmd[0].tty: there are no terminals here"},
      {R"({"cmd": [{"args": ["a"], "files": [{"streamOut": true}]}]})",
       "cmd[0].files[0]: streamIn is for stdin, streamOut for stdout and stderr"},
      {R"({"cmd": [{"args": ["a"], "files": [null, {"streamIn": true}]}]})",
       "cmd[0].files[1]: streamIn is for stdin, streamOut for stdout and stderr"}};
  for (const auto& [text, why] : refused) {
    const Heard heard = Bench().hear("\1" + text);
    REQUIRE(heard.refusal);
    CHECK(heard.refusal->code == kCloseNormal);
    CHECK(results_of(*heard.refusal) ==
          json{{"requestId", ""}, {"results", nullptr}, {"error", why}});
  }
  const Goodbye busy = Bench().protocol.busy({"the queue is full", 1});
  CHECK((busy.code == kCloseTryLater && results_of(busy).at("error") == "the queue is full"));
}

}  // namespace service::go_judge
