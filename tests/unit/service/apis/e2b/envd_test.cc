#include "service/apis/e2b/envd.h"

#include <catch2/catch.hpp>

#include "service/apis/e2b/connect.h"

namespace service::e2b {

using nlohmann::json;

namespace {

template <typename T, typename Other>
T accepted(std::variant<T, Other> read) {
  REQUIRE(std::holds_alternative<T>(read));
  return std::get<T>(std::move(read));
}

runtime::JobResult that_wrote(std::string output) {
  runtime::JobResult result;
  result.verdict.outcome = runtime::Outcome::kOk;
  result.verdict.by = runtime::By::kProgram;
  result.out.bytes = std::move(output);
  return result;
}

// The messages of a stream, and the one that ends it.
std::vector<json> messages_in(std::string_view stream) {
  std::vector<json> messages;
  while (!stream.empty()) {
    REQUIRE(stream.size() >= 5);
    size_t size = 0;
    for (size_t i = 1; i < 5; ++i) size = size << 8 | static_cast<unsigned char>(stream[i]);
    REQUIRE(stream.size() >= 5 + size);
    messages.push_back(json::parse(stream.substr(5, size)));
    stream.remove_prefix(5 + size);
  }
  return messages;
}

}  // namespace

TEST_CASE("calls about files are orders; those that only look change nothing", "[apis][e2b]") {
  CHECK_FALSE(accepted(read_file_call("Stat", R"({"path":"a"})")).changes);
  CHECK(accepted(read_file_call("ListDir", R"({"path":"a","depth":0})")).what.at("depth") == 1);
  CHECK(accepted(read_file_call("MakeDir", R"({"path":"a"})")).changes);
  CHECK(accepted(read_file_call("Remove", R"({"path":"a"})")).what.at("path") == "a");
  CHECK(accepted(read_file_call("Move", R"({"source":"a","destination":"b"})")).changes);
}

TEST_CASE("a call about files without a path is refused, and so is an unknown one", "[apis][e2b]") {
  const auto code_of = [](const char* method, const char* message) {
    return std::string(accepted<RpcError, Order>([&]() -> std::variant<RpcError, Order> {
                         auto read = read_file_call(method, message);
                         if (auto* error = std::get_if<RpcError>(&read)) return std::move(*error);
                         return std::get<Order>(std::move(read));
                       }())
                           .code);
  };

  for (const char* message :
       {"", "[]", "{}", R"({"path":1})", R"({"path":""})", R"({"path":"a\u0000"})"})
    CHECK(code_of("Stat", message) == "invalid_argument");
  const std::string endless = R"({"path":")" + std::string(70'000, 'x') + "\"}";
  CHECK(code_of("Stat", endless.c_str()) == "invalid_argument");
  CHECK(code_of("ListDir", R"({"path":"a","depth":-1})") == "invalid_argument");
  CHECK(code_of("Move", R"({"source":"a"})") == "invalid_argument");
  CHECK(code_of("CreateWatcher", R"({"path":"a"})") == "unimplemented");
}

TEST_CASE("a command is read; terminals and input are not offered", "[apis][e2b]") {
  const Order order = accepted(read_command(
      R"({"process":{"cmd":"/bin/bash","args":["-l","-c","ls"],"envs":{"A":"b"}},"stdin":false})"));
  CHECK(order.changes);
  CHECK(order.what.at("arguments") == json({"-l", "-c", "ls"}));

  for (const char* bad :
       {"", "[]", "{}", R"({"process":1})", R"({"process":{}})",
        R"({"process":{"cmd":"a","args":[1]}})", R"({"process":{"cmd":"a","envs":{"A":1}}})",
        R"({"process":{"cmd":"a","cwd":1}})", R"({"process":{"cmd":"a\u0000"}})",
        R"({"process":{"cmd":"a","args":["\u0000"]}})", R"({"process":{"cmd":"a","envs":["b"]}})",
        R"({"process":{"cmd":"a","envs":{"A=":"b"}}})", R"({"process":{"cmd":"a","args":{}}})"})
    CHECK(std::get<RpcError>(read_command(bad)).code == "invalid_argument");
  const std::string endless = R"({"process":{"cmd":")" + std::string(5'000'000, 'x') + "\"}}";
  CHECK(std::get<RpcError>(read_command(endless)).code == "invalid_argument");
  for (const char* no :
       {R"({"process":{"cmd":"a"},"pty":{}})", R"({"process":{"cmd":"a"},"stdin":true})"})
    CHECK(std::get<RpcError>(read_command(no)).code == "unimplemented");
}

TEST_CASE("what is null in a command is as if it were not there", "[apis][e2b]") {
  const Order order = accepted(read_command(
      R"({"process":{"cmd":"a","args":null,"envs":null,"cwd":null},"pty":null,"stdin":null})"));
  CHECK(order.what.at("arguments") == json::array());
  CHECK(order.what.at("variables") == json::object());
  CHECK(order.what.at("directory") == "");
}

TEST_CASE("files come as a form of several, or as the bytes of one", "[apis][e2b]") {
  Request request;
  request.headers = {{"content-type", "multipart/form-data; boundary=b"}};
  request.body =
      "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a/b\"\r\n\r\none\r\n"
      "--b\r\nContent-Disposition: form-data; name=\"file\"; "
      "filename=\"c\"\r\n\r\ntwo\r\n--b--\r\n";

  const auto two = accepted(read_upload(request));
  REQUIRE(two.size() == 2);
  CHECK(two[0].path == "a/b");
  CHECK(two[1].content == "two");
  CHECK(order_of_upload(two).what.at("files") == json({"a/b", "c"}));

  request.headers = {{"content-type", "application/octet-stream"}};
  CHECK(std::get<Response>(read_upload(request)).status == 400);
  request.query = {{"path", "d"}};
  CHECK(accepted(read_upload(request)).front().path == "d");
}

TEST_CASE("a form with more files than may come at once is refused whole", "[apis][e2b]") {
  Request request;
  request.headers = {{"content-type", "multipart/form-data; boundary=b"}};
  for (int i = 0; i < 1000; ++i)
    request.body +=
        "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n\r\n";
  const std::string end = "--b--\r\n";
  const std::string thousand = request.body;

  request.body = thousand + end;
  CHECK(accepted(read_upload(request)).size() == 1000);
  request.body = thousand + thousand + end;
  CHECK(std::get<Response>(read_upload(request)).status == 400);
}

TEST_CASE("a file's name keeps its backslashes, and a path has no NUL", "[apis][e2b]") {
  Request request;
  request.headers = {{"content-type", "multipart/form-data; boundary=b"}};
  request.body =
      "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\\b \\\"c\\\"\""
      "\r\n\r\none\r\n--b--\r\n";
  CHECK(accepted(read_upload(request)).front().path == "a\\b \"c\"");

  request.query = {{"path", std::string("a\0", 2)}};
  CHECK(std::get<Response>(read_upload(request)).status == 400);
  CHECK(std::get<Response>(read_download(request)).status == 400);
}

TEST_CASE("an order is a text of Python, whatever its path is", "[apis][e2b]") {
  const std::string source =
      source_of(accepted(read_file_call("Stat", R"({"path":"a'\"\n\\ é"})")));

  CHECK(source.starts_with("__import__('builtins').exec(\""));
  CHECK(source.find('\n') == source.size() - 1);
}

TEST_CASE("what became of an order stands behind the bytes", "[apis][e2b]") {
  const auto result = that_wrote("a\nb\n{\"ok\":{\"exit\":3}}\n");

  const auto obeyed = accepted<Obeyed>(read_obeyed(result));

  CHECK(obeyed.content == "a\nb");
  CHECK(obeyed.told.at("exit") == 3);
  CHECK(download_response(result).body == "a\nb");
}

TEST_CASE("a program that a command left may write behind what became of it", "[apis][e2b]") {
  const auto result = that_wrote("out\n\n{\"ok\":{\"exit\":3}}\nlate\n{}\nno end");

  const auto obeyed = accepted<Obeyed>(read_obeyed(result));

  CHECK(obeyed.content == "out\n");
  CHECK(obeyed.behind == "late\n{}\nno end");
  CHECK(obeyed.told.at("exit") == 3);
  CHECK(messages_in(command_events(result)).size() == 4);
}

TEST_CASE("what is told of an order may be as deep as it likes", "[apis][e2b]") {
  const std::string deep(1'000'000, '[');
  const auto status_of = [](const std::string& told) {
    return file_call_response(that_wrote("\n{\"ok\":{\"a\":" + told + "}}\n")).status;
  };
  CHECK(status_of(deep + std::string(deep.size(), ']')) == 200);
  CHECK(status_of(deep) == 500);
}

TEST_CASE("what could not be kept is not done", "[apis][e2b]") {
  runtime::JobResult result = that_wrote("\n{\"ok\":{}}\n");
  CHECK_FALSE(loss_of(result));
  result.step = runtime::StepReport{.kept = true};
  CHECK_FALSE(loss_of(result));
  result.step = runtime::StepReport{.kept = false, .why_not = "no memory for nodes"};

  const RpcError loss = loss_of(result).value();

  CHECK(loss.code == "resource_exhausted");
  CHECK(loss.message.find("no memory for nodes") != std::string::npos);
  CHECK(files_refusal(loss).status == 507);
}

TEST_CASE("an order that failed has a code that is known, or is internal", "[apis][e2b]") {
  const auto status_of = [](const char* output) {
    return file_call_response(that_wrote(output)).status;
  };

  CHECK(status_of("\n{\"code\":\"not_found\",\"message\":\"x\"}\n") == 404);
  CHECK(status_of("\n{\"code\":\"already_exists\",\"message\":\"x\"}\n") == 409);
  for (const char* output : {"", "\n", "{}", "\n{}\n", "\n[1]\n", "{\"ok\":{}}\n", "\n{\"ok\":1}\n",
                             "\n{\"code\":{},\"message\":[]}\n"})
    CHECK(status_of(output) == 500);
}

TEST_CASE("an order that a limit ended says that nothing has changed", "[apis][e2b]") {
  runtime::JobResult result = that_wrote("so far");
  result.verdict.outcome = runtime::Outcome::kTimeout;
  result.verdict.by = runtime::By::kLimit;

  const auto error = std::get<RpcError>(read_obeyed(result));
  CHECK(error.code == "deadline_exceeded");
  CHECK(error.message.find("as it was before") != std::string::npos);

  const auto messages = messages_in(command_events(result));
  REQUIRE(messages.size() == 2);
  CHECK(messages[0] == json::parse(R"({"event":{"data":{"stdout":"c28gZmFy"}}})"));
  CHECK(messages[1].at("error").at("code") == "deadline_exceeded");
}

TEST_CASE("a command that was killed has its output, and ends by a signal", "[apis][e2b]") {
  runtime::JobResult result = that_wrote("so far");
  result.verdict.outcome = runtime::Outcome::kCancelled;
  const auto messages = messages_in(command_events(result));
  REQUIRE(messages.size() == 3);
  CHECK(messages[0] == json::parse(R"({"event":{"data":{"stdout":"c28gZmFy"}}})"));
  CHECK(messages[1].at("event").at("end").at("exitCode") == -1);
  CHECK(messages[1].at("event").at("end").at("status") == "signal: killed");
  CHECK(messages[2] == json::object());
}

TEST_CASE("a command's output and its exit are events", "[apis][e2b]") {
  runtime::JobResult result = that_wrote("out\n\n{\"ok\":{\"exit\":7}}\n");
  result.err.bytes = "err";
  result.step = runtime::StepReport{.kept = false, .why_not = "a child process"};

  const auto messages = messages_in(command_events(result));

  REQUIRE(messages.size() == 4);
  CHECK(messages[0].at("event").at("data").at("stdout") == "b3V0Cg==");
  CHECK(messages[1].at("event").at("data").contains("stderr"));
  CHECK(messages[2].at("event").at("end").at("exitCode") == 7);
  CHECK(messages[2].at("event").at("end").at("error") == "exit status 7");
  CHECK(messages[3] == json::object());
}

}  // namespace service::e2b
