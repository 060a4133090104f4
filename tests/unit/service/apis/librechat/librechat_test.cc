#include "service/apis/librechat/librechat.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/unit/service/apis/result_of.h"

namespace service::librechat {

using nlohmann::json;

namespace {

StoredFilePtr stored(const char* content) {
  return std::make_shared<const StoredFile>(StoredFile{"", "s/a.csv", content});
}

const Find kFind = [](const FileRef& ref) {
  return ref.session == "s" && ref.id == "i" ? stored("1,2") : nullptr;
};
const Hold kRoom = [](uint64_t) { return true; };
const Keep kKeep = [](const std::string& name, const std::string&) -> sys::Result<std::string> {
  if (name == "full") return sys::Error::because("no room");
  return "id-of-" + name;
};

json body() {
  return {{"lang", "py"},
          {"code", "print(1)"},
          {"args", {"a", "b"}},
          {"files",
           {{{"id", "i"}, {"storage_session_id", "s"}, {"name", "a.csv"}, {"kind", "user"}},
            {{"id", "old"}, {"session_id", "s"}, {"name", "b.csv"}}}}};
}

std::string refusal_of(const json& body) {
  auto read = read_exec(body.dump(), kFind, kRoom, {});
  REQUIRE(std::holds_alternative<Response>(read));
  CHECK(std::get<Response>(read).status == 400);
  return json::parse(std::get<Response>(read).body).at("error");
}

runtime::JobResult result(const char* label, const char* by, const json& detail = json::object()) {
  const json ours = {{"id", "j-1"},
                     {"label", label},
                     {"by", by},
                     {"detail", detail},
                     {"exit", {{"code", nullptr}, {"signal", nullptr}}},
                     {"stdout", {{"text", "out"}}},
                     {"stderr", {{"text", "err"}}},
                     {"level", "full"}};
  return result_of(ours);
}

}  // namespace

TEST_CASE("what is to be executed sees the files that it names", "[service][librechat]") {
  auto read = read_exec(body().dump(), kFind, kRoom, {});
  const auto& execution = std::get<Execution>(read);
  CHECK(execution.job.template_name == "python");
  CHECK(execution.job.source == "print(1)");
  CHECK(execution.job.argv == std::vector<std::string>{"a", "b"});
  CHECK(execution.job.outputs == std::vector<std::string>{"**"});
  REQUIRE(execution.job.files.size() == 1);
  CHECK(execution.job.files[0].path == "a.csv");
  CHECK(execution.job.files[0].content == "1,2");
  CHECK(execution.wish.lost == std::vector<std::string>{"b.csv"});
  CHECK(execution.wish.given.at("a.csv").ref.id == "i");
}

TEST_CASE("what is nothing to be executed is 400 and says why", "[service][librechat]") {
  const auto refused = [](const char* name, const json& value) {
    json request = body();
    request[name] = value;
    return refusal_of(request);
  };
  CHECK(refused("lang", "f90") == "the language f90 is not offered here");
  CHECK(refused("lang", "cobol") == "lang: \"cobol\" is not known");
  CHECK(refused("code", 1) == "code: expected a text");
  CHECK(refused("args", {1}) == "args: expected a list of texts");
  CHECK(refused("files", {{{"id", "i"}}}) ==
        "files: expected objects with id, name and storage_session_id");
  CHECK(refusal_of(json::array()) == "the body is not a JSON object");
  json outside = body();
  outside["files"][0]["name"] = "../a";
  CHECK_FALSE(refusal_of(outside).empty());
}

TEST_CASE("new files get ids, unchanged ones have theirs", "[service][librechat]") {
  runtime::JobResult ran = result("OK", "program");
  for (const char* name : {"a.csv", "b.csv", "full"}) {
    runtime::InputFile file;
    file.path = name;
    file.content = "1,2";
    ran.files.files.push_back(file);
  }
  runtime::InputFile source;
  source.path = "main.sh";
  source.content = "code";
  ran.files.files.push_back(source);
  const Execution::Wish wish{
      "code", {"lost.csv"}, {{"a.csv", {{"s", "i", "a.csv"}, stored("1,2")}}}};
  const Response response = exec_response(ran, wish, "new", kKeep);
  CHECK(response.status == 200);
  const json answer = json::parse(response.body);
  CHECK(answer.at("session_id") == "new");
  CHECK(answer.at("stdout") == "out");
  CHECK(answer.at("stderr") ==
        "err\nlost.csv is not kept here any more\nfull is not kept: no room\n");
  REQUIRE(answer.at("files").size() == 2);
  CHECK(answer["files"][0] == json{{"id", "i"},
                                   {"name", "a.csv"},
                                   {"session_id", "s"},
                                   {"storage_session_id", "s"},
                                   {"inherited", true}});
  CHECK(answer["files"][1] == json{{"id", "id-of-b.csv"},
                                   {"name", "b.csv"},
                                   {"session_id", "new"},
                                   {"storage_session_id", "new"}});
}

TEST_CASE("our own trouble is 503, a limit a line of stderr", "[service][librechat]") {
  CHECK(exec_response(result("SandboxError", "sandbox"), {}, "s", kKeep).status == 503);
  CHECK(exec_response(result("BadJob", "caller"), {}, "s", kKeep).status == 400);
  const Response late =
      exec_response(result("TimeoutException", "limit", {{"limit", "wall"}}), {}, "s", kKeep);
  CHECK(late.status == 200);
  CHECK(json::parse(late.body).at("stderr") == "err\nTimeoutException: {\"limit\":\"wall\"}\n");
}

TEST_CASE("the path of a file is its session and its id", "[service][librechat]") {
  CHECK(file_at("s/i").session == "s");
  CHECK(file_at("s/i").id == "i");
  CHECK(file_at("s").id.empty());
  CHECK(file_at("s/i/x").id.empty());
}

TEST_CASE("librechat: files are counted before they are copied", "[librechat]") {
  json request = body();
  request["files"] = json::array();
  for (int i = 0; i < 5; ++i)
    request["files"].push_back(
        {{"id", "i"}, {"storage_session_id", "s"}, {"name", std::to_string(i)}});
  std::vector<uint64_t> asked;
  const Hold two = [&asked](uint64_t bytes) {
    asked.push_back(bytes);
    return bytes <= 6;
  };
  auto read = read_exec(request.dump(), kFind, two, {});
  REQUIRE(std::holds_alternative<Response>(read));
  CHECK(std::get<Response>(read).status == 503);
  CHECK(asked == std::vector<uint64_t>{3, 6, 9});
  read = read_exec(request.dump(), kFind, kRoom, {});
  REQUIRE(std::holds_alternative<Execution>(read));
  const runtime::Job& job = std::get<Execution>(read).job;
  CHECK(job.limits.outputs.count == runtime::Limits{}.outputs.count + 15);
}

TEST_CASE("librechat: of a run a bounded number of files is kept", "[librechat]") {
  runtime::JobResult ran = result("OK", "program");
  for (size_t i = 0; i < kMostKept + 3; ++i)
    ran.files.files.push_back({.path = "f" + std::to_string(i), .content = ""});
  size_t kept = 0;
  const Keep count = [&kept](const std::string& name, const std::string&) {
    ++kept;
    return sys::Result<std::string>(name);
  };
  const Response response = exec_response(ran, {}, "s", count);
  CHECK(kept == kMostKept);
  CHECK(json::parse(response.body).at("files").size() == kMostKept);
  CHECK(json::parse(response.body)
            .at("stderr")
            .get<std::string>()
            .find("f100 and more are not kept") != std::string::npos);
}

}  // namespace service::librechat
