#include "service/apis/go_judge/go_judge.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "runtime/builds/artefact.h"
#include "service/apis/go_judge/messages.h"
#include "service/apis/multipart.h"

namespace service::go_judge {

using nlohmann::json;
using runtime::JobResult;
using runtime::Outcome;

namespace {

// Two files that are kept: an executable, and a script.
Places places() {
  Places made;
  made.stored = [](const std::string& id) -> StoredFilePtr {
    if (id == "PROGRAMS")
      return std::make_shared<StoredFile>(StoredFile{"", "a",
                                                     "\x7f"
                                                     "ELF"});
    if (id == "SCRIPTSS")
      return std::make_shared<StoredFile>(StoredFile{"", "s", "#!/bin/sh -e\nls"});
    return nullptr;
  };
  made.executable = [](const std::string&) {
    return runtime::Artefact::create({{"program",
                                       "\x7f"
                                       "ELF",
                                       true}},
                                     "program", 0);
  };
  return made;
}

Request request_of(const json& body) {
  auto read = read_run(body.dump(), places(), {});
  if (const auto* refused = std::get_if<Response>(&read)) FAIL(refused->body);
  return std::get<Request>(std::move(read));
}

Command command_of(const json& command) {
  return std::move(request_of({{"cmd", {command}}}).commands.front());
}

// Status and text.
std::pair<int, std::string> refusal_of(const std::string& body, const Places& at = places()) {
  auto read = read_run(body, at, {});
  REQUIRE(std::holds_alternative<Response>(read));
  const Response& refused = std::get<Response>(read);
  return {refused.status, json::parse(refused.body)};
}

std::string complaint_about(const json& command) {
  return refusal_of(json{{"cmd", {command}}}.dump()).second;
}

json with(json object, const json& changes) {
  object.merge_patch(changes);
  return object;
}

const json kEcho = {{"args", {"/bin/echo", "a"}}};

JobResult ended(Outcome outcome, runtime::By by, std::optional<runtime::ExitStatus> exit) {
  JobResult result;
  result.verdict = {outcome, "", by, {}};
  result.exit = exit;
  return result;
}

json answer_to(const Command& command, JobResult result) {
  return json::parse(result_text(command, result, [](const std::string& name, std::string) {
    return sys::Result<std::string>("ID-" + name);
  }));
}

constexpr runtime::ExitStatus kWell{false, 0};

}  // namespace

TEST_CASE("a command is a job of the template `command`, judged by its program",
          "[service][go-judge]") {
  const Command command = command_of({{"args", {"/usr/bin/g++", "a.cc"}},
                                      {"env", {"PATH=/usr/bin", "A=b=c", "nothing"}},
                                      {"files",
                                       {{{"content", "in"}},
                                        {{"name", "stdout"}, {"max", 10}},
                                        {{"name", "stderr"}, {"max", 20}}}},
                                      {"cpuLimit", 1'000'000'001},
                                      {"memoryLimit", 64 << 20},
                                      {"stackLimit", 32 << 20},
                                      {"procLimit", 7},
                                      {"copyIn", {{"a.cc", {{"content", "int main;"}}}}},
                                      {"later", "unknown"}});
  const runtime::Job& job = command.job;
  CHECK(job.template_name == "command");
  CHECK(job.policy.by_program);
  CHECK(job.source == "/usr/bin/g++");
  CHECK(job.argv == std::vector<std::string>{"a.cc"});
  CHECK(job.env == decltype(job.env){{"PATH", "/usr/bin"}, {"A", "b=c"}});
  CHECK(job.stdin_bytes == "in");
  CHECK(job.limits.cpu == sys::Milliseconds(1001));
  CHECK(job.limits.wall == job.limits.cpu);
  CHECK(job.limits.memory == sys::mebibytes(64));
  CHECK(job.limits.stack == sys::mebibytes(32));
  CHECK(job.limits.pids == 7);
  CHECK(job.limits.out.count == 10);
  CHECK(job.limits.err.count == 20);
  REQUIRE(job.files.size() == 1);
  CHECK(job.files[0].path == "a.cc");
  CHECK_FALSE(job.program);
}

TEST_CASE("limits that are absent or 0 are the service's, and clockLimit is cpuLimit",
          "[service][go-judge]") {
  const runtime::Limits usual;
  const Command none = command_of(kEcho);
  CHECK(none.job.limits.cpu == usual.cpu);
  CHECK(none.job.limits.wall == usual.wall);
  CHECK(none.job.limits.memory == usual.memory);
  CHECK(none.job.limits.pids == usual.pids);

  const json clocks = {{"cpuLimit", 1e9}, {"clockLimit", 3e9}};
  CHECK(command_of(with(kEcho, clocks)).job.limits.wall == sys::Milliseconds(3000));
  CHECK(command_of(with(with(kEcho, clocks), {{"realCpuLimit", 5e9}})).job.limits.wall ==
        sys::Milliseconds(5000));
}

TEST_CASE("the program that came along is executed, by whatever name it goes",
          "[service][go-judge]") {
  for (const char* word : {"a", "./a", "/w/a", "/tmp/a", ".//a"}) {
    INFO(word);
    const Command command =
        command_of({{"args", {word, "x"}},
                    {"copyIn", {{"a", {{"fileId", "PROGRAMS"}}}, {"in", {{"content", ""}}}}}});
    REQUIRE(command.program);
    CHECK(command.program());
    CHECK(command.job.source == word);
    REQUIRE(command.job.files.size() == 1);
    CHECK(command.job.files[0].path == "in");
  }
  CHECK(command_of({{"args", {"b"}},
                    {"copyIn",
                     {{"b",
                       {{"content",
                         "\x7f"
                         "ELF"}}}}}})
            .program);
  const Command other = command_of({{"args", {"/bin/a"}}, {"copyIn", {{"a", {{"content", ""}}}}}});
  CHECK_FALSE(other.program);
}

TEST_CASE("a script that came along is run by its interpreter", "[service][go-judge]") {
  const json copy_in = {{"s", {{"fileId", "SCRIPTSS"}}}};
  const Command command = command_of({{"args", {"./s", "x"}}, {"copyIn", copy_in}});
  CHECK_FALSE(command.program);
  CHECK(command.job.source == "/bin/sh");
  CHECK(command.job.argv == std::vector<std::string>{"-e", "./s", "x"});
  REQUIRE(command.job.files.size() == 1);
  CHECK(command.job.files[0].executable);
}

TEST_CASE("links are placed after all files", "[service][go-judge]") {
  const Command command = command_of(
      with(kEcho, {{"copyIn", {{"a", {{"symlink", "/dev/stdin"}}}, {"b", {{"content", "1"}}}}}}));
  REQUIRE(command.job.files.size() == 2);
  CHECK(command.job.files[1].path == "a");
  CHECK(command.job.files[1].link);
  CHECK(command.job.files[1].content == "/dev/stdin");
}

TEST_CASE("files that are wanted are named by globs that match nothing else",
          "[service][go-judge]") {
  const Command command =
      command_of(with(kEcho, {{"files", {nullptr, {{"name", "stdout"}, {"max", 1}}}},
                              {"copyOut", {"stdout", "/w/a[*]?", "../x"}},
                              {"copyOutCached", {"b"}}}));
  CHECK(command.job.outputs == std::vector<std::string>{"a[[][*]]", "b"});
  REQUIRE(command.wanted.size() == 3);
  CHECK(command.wanted[0].optional);
  CHECK(command.wanted[0].name == "/w/a[*]");
  CHECK(command.wanted[1].path.empty());
  CHECK(command.cached.contains("b"));
}

TEST_CASE("what is no request is a JSON string with 400", "[service][go-judge]") {
  CHECK(refusal_of("{") == std::pair<int, std::string>{400, "the body is not a JSON object"});
  for (const char* body : {"{}", R"({"cmd": []})", R"({"cmd": null})"})
    CHECK(refusal_of(body) == std::pair<int, std::string>{400, "no cmd provided"});
  CHECK(complaint_about(json{{"args", json::array()}}).find("cmd[0].args") == 0);
  CHECK(complaint_about(with(kEcho, {{"cpuLimit", -1}})).find("cmd[0].cpuLimit") == 0);
  CHECK(complaint_about(with(kEcho, {{"cpuLimit", "1"}})).find("cmd[0].cpuLimit") == 0);
  CHECK(complaint_about(with(kEcho, {{"tty", true}})).find("cmd[0].tty") == 0);
  CHECK(complaint_about(with(kEcho, {{"copyIn", {{"../a", {{"content", ""}}}}}}))
            .find("cmd[0].copyIn.../a") == 0);
  CHECK(complaint_about(with(kEcho, {{"copyIn", {{"/etc/a", {{"content", ""}}}}}}))
            .find("cmd[0].copyIn") == 0);
  CHECK(complaint_about(with(kEcho, {{"files", {{{"streamIn", true}}}}})).find("cmd[0].files[0]") ==
        0);
  CHECK(complaint_about(with(kEcho, {{"files", {nullptr, {{"name", "x"}}}}})) ==
        "cmd[0].files[1]: file type is not valid for cmd");
}

TEST_CASE("no nesting leads the reader too deep", "[service][go-judge]") {
  constexpr size_t kDeep = 600'000;  // an aligned frame is 16 bytes: more than 8 MiB of stack
  const std::string deep = std::string(kDeep, '[') + std::string(kDeep, ']');
  for (const char* field : {"env", "files", "copyIn", "copyOut", "cpuLimit", "other"}) {
    INFO(field);
    const std::string body =
        R"({"cmd": [{"args": ["a"], ")" + std::string(field) + "\": " + deep + "}]}";
    (void)read_run(body, places(), {});
  }
  CHECK(refusal_of(R"({"cmd": )" + deep + "}").first == 400);
}

TEST_CASE("a path of this host is refused, unless the operator offers its directory",
          "[service][go-judge]") {
  const json command = with(kEcho, {{"copyIn", {{"a", {{"src", "/etc/shadow"}}}}}});
  CHECK(complaint_about(command).find("--file-source") != std::string::npos);
  CHECK(command_of(with(kEcho, {{"files", {{{"src", "/dev/null"}}}}})).job.stdin_bytes.empty());

  Places at = places();
  at.local = [](const std::string& path, uint64_t) -> sys::Result<std::string> {
    if (path == "/data/1.in") return std::string("local");
    return sys::Error::because("no");
  };
  auto read =
      read_run(json{{"cmd", {with(kEcho, {{"files", {{{"src", "/data/1.in"}}}}})}}}.dump(), at, {});
  REQUIRE(std::holds_alternative<Request>(read));
  CHECK(std::get<Request>(read).commands[0].job.stdin_bytes == "local");
  CHECK(refusal_of(json{{"cmd", {command}}}.dump(), at).first == 500);
}

TEST_CASE("a file that is not kept, or files that are too large together, are no request",
          "[service][go-judge]") {
  const json unknown = with(kEcho, {{"copyIn", {{"a", {{"fileId", "UNKNOWNS"}}}}}});
  CHECK(refusal_of(json{{"cmd", {unknown}}}.dump()) ==
        std::pair<int, std::string>{500, "file does not exists with id: \"UNKNOWNS\""});
  Places small = places();
  small.most = 5;
  const json two =
      with(kEcho, {{"copyIn", {{"a", {{"content", "123"}}}, {"b", {{"content", "456"}}}}}});
  CHECK(refusal_of(json{{"cmd", {two}}}.dump(), small).second.find("too large") !=
        std::string::npos);
}

TEST_CASE("two commands may be joined, in one direction or in both", "[service][go-judge]") {
  const json pair = {{"cmd", {kEcho, kEcho}}};
  const auto pipe = [](int from, int to) {
    return json{{"in", {{"index", from}, {"fd", 1}}}, {"out", {{"index", to}, {"fd", 0}}}};
  };
  CHECK(request_of(pair).pipes == Request::Pipes::kNone);
  const Request one = request_of(with(pair, {{"pipeMapping", {pipe(1, 0)}}}));
  CHECK(one.pipes == Request::Pipes::kOneWay);
  CHECK(one.first == 1);
  CHECK(request_of(with(pair, {{"pipeMapping", {pipe(0, 1), pipe(1, 0)}}})).pipes ==
        Request::Pipes::kCrossed);
  for (const json& wrong :
       {json::array({pipe(0, 0)}), json::array({pipe(0, 2)}), json::array({pipe(0, 1), pipe(0, 1)}),
        json::array({1}), json::array({pipe(0, 1), pipe(1, 0), pipe(0, 1)})}) {
    INFO(wrong.dump());
    CHECK(refusal_of(with(pair, {{"pipeMapping", wrong}}).dump()).first == 400);
  }
}

TEST_CASE("each end has its status", "[service][go-judge]") {
  using By = runtime::By;
  const runtime::ExitStatus killed{true, 9}, crashed{true, 11}, failed{false, 3};
  const Command command = command_of(kEcho);
  const auto status = [&command](Outcome outcome, By by, std::optional<runtime::ExitStatus> exit) {
    const json answer = answer_to(command, ended(outcome, by, exit));
    return answer.at("status").get<std::string>() + " " + answer.at("exitStatus").dump();
  };
  CHECK(status(Outcome::kOk, By::kProgram, kWell) == "Accepted 0");
  CHECK(status(Outcome::kNonZeroExit, By::kProgram, failed) == "Nonzero Exit Status 3");
  CHECK(status(Outcome::kSignalled, By::kProgram, crashed) == "Signalled 11");
  CHECK(status(Outcome::kTimeout, By::kLimit, killed) == "Time Limit Exceeded 9");
  CHECK(status(Outcome::kMemoryLimit, By::kLimit, killed) == "Memory Limit Exceeded 9");
  CHECK(status(Outcome::kOutputLimit, By::kLimit, killed) == "Output Limit Exceeded 9");
  CHECK(status(Outcome::kDiskLimit, By::kLimit, failed) == "Output Limit Exceeded 3");
  CHECK(status(Outcome::kProcessLimit, By::kLimit, kWell) == "Accepted 0");
  CHECK(status(Outcome::kUnsafeCode, By::kPolicy, kWell) == "Dangerous Syscall 0");
  CHECK(status(Outcome::kBadJob, By::kCaller, std::nullopt) == "Internal Error 0");
  CHECK(status(Outcome::kSandboxError, By::kSandbox, std::nullopt) == "Internal Error 0");
}

TEST_CASE("what was used is looked at once more", "[service][go-judge]") {
  const Command command =
      command_of(with(kEcho, {{"cpuLimit", 1'000'000}, {"memoryLimit", 1 << 20}}));
  JobResult result = ended(Outcome::kOk, runtime::By::kProgram, kWell);
  result.usage.cpu_us = 1001;
  CHECK(answer_to(command, result).at("status") == "Time Limit Exceeded");
  result.usage.memory_peak_bytes = (1 << 20) + 1;
  const json answer = answer_to(command, result);
  CHECK(answer.at("status") == "Memory Limit Exceeded");
  CHECK(answer.at("time") == 1'001'000);
  CHECK(answer.at("memory") == (1 << 20) + 1);
}

TEST_CASE("files are answered or kept, and what is missing is told", "[service][go-judge]") {
  const json files = {nullptr, {{"name", "stdout"}, {"max", 9}}, {{"name", "stderr"}, {"max", 9}}};
  const Command command = command_of(with(kEcho, {{"files", files},
                                                  {"copyOut", {"stdout", "b", "./c", "d?", "l"}},
                                                  {"copyOutCached", {"stderr", "a"}},
                                                  {"copyOutMax", 3}}));
  JobResult result = ended(Outcome::kOk, runtime::By::kProgram, kWell);
  result.out.bytes = "out";
  result.err.bytes = "err";
  result.files.files = {{"a", "123", false}, {"b", "1234", false}};
  result.files.refused = {{"l", "a symbolic link"}};

  const json answer = answer_to(command, result);

  CHECK(answer.at("status") == "File Error");
  CHECK(answer.at("files") == json{{"stdout", "out"}});
  CHECK(answer.at("fileIds") == json{{"stderr", "ID-stderr"}, {"a", "ID-a"}});
  std::string types;
  for (const json& error : answer.at("fileError"))
    types += error.at("name").get<std::string>() + ":" + error.at("type").get<std::string>() + " ";
  CHECK(types == "b:CopyOutSizeExceeded ./c:CopyOutOpen l:CopyOutNotRegularFile ");
  CHECK(answer.at("error") == answer.at("fileError")[0].at("message"));
}

TEST_CASE("with copyOutTruncate a file that is too large is cut", "[service][go-judge]") {
  const Command command =
      command_of(with(kEcho, {{"copyOut", {"b"}}, {"copyOutMax", 3}, {"copyOutTruncate", true}}));
  JobResult result = ended(Outcome::kOk, runtime::By::kProgram, kWell);
  result.files.files = {{"b", "1234", false}};
  const json answer = answer_to(command, result);
  CHECK(answer.at("files").at("b") == "123");
  CHECK(answer.at("status") == "File Error");
}

TEST_CASE("a stream that ran over is kept up to its limit", "[service][go-judge]") {
  const Command command =
      command_of(with(kEcho, {{"files", {nullptr, {{"name", "o"}, {"max", 3}}}}}));
  JobResult result =
      ended(Outcome::kOutputLimit, runtime::By::kLimit, runtime::ExitStatus{true, 9});
  result.out = {"abc", 10, true};
  const json answer = answer_to(command, result);
  CHECK(answer.at("files").at("o") == "abc");
  CHECK(answer.at("fileError")[0].at("type") == "CollectSizeExceeded");
}

TEST_CASE("what clients ask a version for is there", "[service][go-judge]") {
  const json version = json::parse(version_response("1").body);
  CHECK(version.at("buildVersion").get<std::string>().starts_with("v1."));
  CHECK(version.at("fixSymlinkEscape") == true);
  CHECK(version.at("copyOutOptional") == true);
  sandbox::Layers layers;
  CHECK(
      json::parse(config_response(layers).body).at("runnerConfig").at("cgroupControllers").empty());
}

TEST_CASE("kept files have ids, owners, a bound and an end", "[service][go-judge]") {
  using std::chrono::seconds;
  FileStore store({.bytes = sys::Bytes{3000}, .files = 2, .keep = seconds(10)});
  const auto first = store.add({"me", "a", "1"}, seconds(0));
  REQUIRE(first);
  CHECK(first->size() == 8);
  CHECK(store.find("me", *first, seconds(1))->content == "1");
  CHECK_FALSE(store.find("you", *first, seconds(1)));
  CHECK_FALSE(store.remove("you", *first));
  CHECK_FALSE(store.add({"me", "large", std::string(3000, 'x')}, seconds(1)));
  const auto second = store.add({"you", "b", "2"}, seconds(1));
  REQUIRE(second);
  CHECK_FALSE(store.add({"me", "third", ""}, seconds(1)));
  CHECK(store.list("me", seconds(1)) == decltype(store.list("", {})){{*first, "a"}});
  CHECK(store.find("me", *first, seconds(9)));

  CHECK(store.list("you", seconds(12)).empty());  // unused for longer than 10 s
  CHECK(store.find("me", *first, seconds(12)));
  CHECK(store.remove("me", *first));
  CHECK_FALSE(store.remove("me", *first));
}

TEST_CASE("an executable is made once, and its copy counts where there is room",
          "[service][go-judge]") {
  FileStore store({.bytes = sys::Bytes{4000}, .executables = 1});
  const auto id = store.add({"", "a", std::string(1000, 'x')}, {});
  const auto made = store.executable("", *id, {}), again = store.executable("", *id, {});
  REQUIRE(made);
  REQUIRE(again);
  CHECK(*made == *again);
  CHECK((*made)->program);
  CHECK_FALSE(store.add({"", "b", std::string(1500, 'x')}, {}));
  const auto other = store.add({"", "c", "2"}, {});
  CHECK(store.executable("", *other, {}));  // takes the place of the first
  CHECK(store.executable("", *id, {}).value() != *made);
  CHECK(store.remove("", *id));
  CHECK(store.add({"", "b", std::string(1500, 'x')}, {}));
}

TEST_CASE("a message of a WebSocket is a request with an id, or a cancellation",
          "[service][go-judge]") {
  const auto request = read_socket_message(R"({"requestId": "a", "cmd": []})");
  REQUIRE(request);
  CHECK((request->id == "a" && request->cancel.empty()));
  const auto cancel = read_socket_message(R"({"cancelRequestId": "a\"b"})");
  REQUIRE(cancel);
  CHECK((cancel->id.empty() && cancel->cancel == "a\"b"));
  CHECK(read_socket_message(R"({"requestId": 7})")->id.empty());
  CHECK(read_socket_message(R"({"requestId": null})")->id.empty());
  for (const char* none : {"", "[]", "7", "{", "null", "\"requestId\""})
    CHECK_FALSE(read_socket_message(none));
}

TEST_CASE("an answer over a WebSocket names its request", "[service][go-judge]") {
  const json fine = json::parse(socket_answer("a\"b", {.body = "[{\"status\":\"Accepted\"}]\n"}));
  CHECK(fine == json{{"requestId", "a\"b"}, {"results", {{{"status", "Accepted"}}}}});
  const json refused = json::parse(socket_answer("a", text_response(400, "no cmd provided")));
  CHECK(refused == json{{"requestId", "a"}, {"results", nullptr}, {"error", "no cmd provided"}});
  CHECK(json::parse(socket_error("a", "no"))["error"] == "no");
}

TEST_CASE("a file of a form is found by its field", "[service][go-judge]") {
  const std::string type = "multipart/form-data; boundary=\"x y\"";
  const std::string part = "Content-Disposition: form-data; name=\"file\"; filename=\"a\\\"b\"\r\n";
  const std::string other = "content-disposition: form-data; name=other\r\n\r\nfile\r\n";
  const std::string body =
      "--x y\r\n" + other + "--x y\r\n" + part + "\r\n1\r\n--x 2\r\n--x y--\r\n";
  const auto file = file_of_form(type, body, "file");
  REQUIRE(file);
  CHECK(file->name == "a\"b");
  CHECK(file->content == "1\r\n--x 2");
  CHECK_FALSE(file_of_form(type, body, "files"));
  CHECK_FALSE(file_of_form("text/plain", body, "file"));
  CHECK_FALSE(file_of_form("multipart/form-data", body, "file"));
  for (size_t cut = 0; cut < body.size() - 6; ++cut)
    CHECK_FALSE(file_of_form(type, body.substr(0, cut), "file"));
}

}  // namespace service::go_judge
