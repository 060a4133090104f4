#include "service/apis/piston/piston.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "service/apis/installed_runtimes.h"
#include "tests/unit/service/apis/result_of.h"

namespace service::piston {

using nlohmann::json;

namespace {

const std::vector<Language> kLanguages = {
    {"python", {3, 11, 2}, {"py", "python3"}, false, "python"},
    {"cpp17", {12, 2, 0}, {"c++17"}, true, "cpp17"}};

Request request_of(const json& body) {
  Request request;
  request.headers = {{"content-type", "application/json; charset=utf-8"}};
  request.body = body.dump();
  return request;
}

std::variant<Execution, Response> read(const json& body) {
  return read_execute(request_of(body), kLanguages, {}, {});
}

Execution execution_of(const json& body) {
  auto made = read(body);
  if (const auto* refused = std::get_if<Response>(&made)) FAIL(refused->body);
  return std::get<Execution>(std::move(made));
}

// A good request but for these.
json with(const json& changes) {
  json body = {{"language", "py"}, {"version", "*"}, {"files", {{{"content", "print(1)"}}}}};
  body.merge_patch(changes);
  return body;
}

std::string refusal_of(const json& body) {
  auto made = read(body);
  REQUIRE(std::holds_alternative<Response>(made));
  const Response& refused = std::get<Response>(made);
  CHECK(refused.status == 400);
  return json::parse(refused.body).at("message");
}

json result(const char* label, const char* by, json exit, json detail = json::object()) {
  return {{"id", "j-1"},
          {"label", label},
          {"by", by},
          {"detail", std::move(detail)},
          {"exit", std::move(exit)},
          {"stdout", {{"text", "out"}}},
          {"stderr", {{"text", "err"}}},
          {"usage", {{"wall_ms", 250}, {"cpu_ms", 200}, {"memory_peak_kb", 3}}},
          {"level", "full"},
          {"template", "python@sha256:0"}};
}

json answer_to(const json& ours, size_t language = 0) {
  const Response response = execute_response(result_of(ours), kLanguages[language]);
  CHECK(response.status == 200);
  return json::parse(response.body);
}

const json kEndedWell = {{"code", 0}, {"signal", nullptr}};
const json kKilled = {{"code", nullptr}, {"signal", "SIGKILL"}};

}  // namespace

TEST_CASE("what is installed and says its version is a language", "[service][piston]") {
  const json runtimes = {{{"name", "python"},
                          {"available", true},
                          {"version", "Python 3.11.2"},
                          {"extensions", {"py"}}},
                         {{"name", "c"},
                          {"available", true},
                          {"version", "12.2.0"},
                          {"how", "compiled"},
                          {"aliases", {"gcc"}}},
                         {{"name", "go"}, {"available", false}, {"version", ""}},
                         {{"name", "command"}, {"available", true}, {"version", ""}}};
  const std::vector<Language> languages = languages_of(runtimes_in(runtimes.dump()));
  REQUIRE(languages.size() == 2);
  CHECK(languages[0].aliases == std::vector<std::string>{"py", "python3"});
  CHECK(languages[1].compiled);
  CHECK(json::parse(runtimes_response(languages).body) ==
        json{{{"language", "python"}, {"version", "3.11.2"}, {"aliases", {"py", "python3"}}},
             {{"language", "c"}, {"version", "12.2.0"}, {"aliases", {"gcc"}}}});
  CHECK(languages_of({}).empty());
}

TEST_CASE("a version that is pinned is what is here by another name", "[service][piston]") {
  const json runtimes = {{{"name", "cpp"},
                          {"available", true},
                          {"version", "12.2.0"},
                          {"how", "compiled"},
                          {"aliases", {"c++"}}}};
  const auto pins = pins_in("c++=13.1.0,c++=12.2.0,cobol=3.1.2");
  REQUIRE(pins.ok());
  const std::vector<Language> languages = languages_of(runtimes_in(runtimes.dump()), *pins);
  const auto version_of = [&languages](const char* range) {
    auto made = read_execute(request_of(with({{"language", "c++"}, {"version", range}})), languages,
                             {}, {});
    const auto* execution = std::get_if<Execution>(&made);
    return execution ? text_of(execution->language.version) : "";
  };

  CHECK(languages.size() == 2);
  CHECK(version_of("13.1.0") == "13.1.0");
  CHECK(version_of("*") == "12.2.0");
  CHECK(version_of("13").empty());
  for (const char* wrong : {"python", "=3.10.0", "python=", "python=3.10.0rc1", "a=1.2.3,,"})
    CHECK_FALSE(pins_in(wrong).ok());
}

TEST_CASE("languages have the original's names, and its compilers' options", "[service][piston]") {
  const auto compiled = [](const char* name, std::vector<std::string> aliases) {
    return json{{"name", name},      {"available", true},  {"version", "12.2.0"},
                {"how", "compiled"}, {"aliases", aliases}, {"extensions", json::array()}};
  };
  json variant = compiled("cpp17-unoptimised", {});
  variant["variant_of"] = "cpp17";
  const json runtimes = {compiled("cpp", {"c++", "g++", "cpp20", "c++20"}),
                         compiled("rust", {"rs"}), compiled("cpp17", {"c++17"}), variant,
                         compiled("javascript", {"js", "mjs"})};
  const std::vector<Language> languages = languages_of(runtimes_in(runtimes.dump()));
  const auto template_of = [&languages](const char* name) {
    auto made = read_execute(request_of(with({{"language", name}})), languages, {}, {});
    return std::get<Execution>(std::move(made)).job.template_name;
  };

  CHECK(template_of("c++") == "cpp17-unoptimised");
  CHECK(template_of("cpp") == "cpp17-unoptimised");
  CHECK(template_of("c++20") == "cpp");
  CHECK(template_of("cpp20") == "cpp");
  CHECK(template_of("c++17") == "cpp17");
  CHECK(template_of("rust") == "rust");  // without the variant
  const json listed = json::parse(runtimes_response(languages).body);
  REQUIRE(listed.size() == 5);
  CHECK(listed[0]["language"] == "c++");
  CHECK(listed[0]["aliases"] == json{"cpp", "g++"});
  CHECK(listed[4]["language"] == "javascript");
  CHECK(listed[4]["aliases"] == json{"node-javascript", "node-js", "js", "node", "mjs"});
}

TEST_CASE("a package comes before whoever has its name for an alias", "[service][piston]") {
  const json runtimes = {
      {{"name", "cpp17"}, {"available", true}, {"version", "12.2.0"}, {"aliases", {"c++17"}}},
      {{"name", "c++17-1.0.0"}, {"language", "c++17"}, {"available", true}, {"version", "1.0.0"}}};
  const std::vector<Language> languages = languages_of(runtimes_in(runtimes.dump()));
  auto made = read_execute(request_of(with({{"language", "c++17"}})), languages, {}, {});
  CHECK(std::get<Execution>(std::move(made)).job.template_name == "c++17-1.0.0");
}

TEST_CASE("an execute request is a job", "[service][piston]") {
  const Execution made =
      execution_of(with({{"files",
                          {{{"name", "data.bin"}, {"content", "/w=="}, {"encoding", "base64"}},
                           {{"name", "mine.py"}, {"content", "print(1)"}},
                           {{"content", "more"}},
                           {{"name", "h"}, {"content", "6869"}, {"encoding", "hex"}}}},
                         {"stdin", "3 4"},
                         {"args", {"a", "b"}},
                         {"run_timeout", 500.5},
                         {"run_cpu_time", 300},
                         {"run_memory_limit", 64 << 20}}));
  CHECK(made.language.name == "python");
  CHECK(made.job.source == "print(1)");
  CHECK(made.job.template_name == "python");
  CHECK(made.job.stdin_bytes == "3 4\n");
  CHECK(made.job.argv == std::vector<std::string>{"a", "b"});
  CHECK(made.job.limits.wall == sys::Milliseconds(500));
  CHECK(made.job.limits.cpu == sys::Milliseconds(300));
  CHECK(made.job.limits.memory == sys::mebibytes(64));
  CHECK(made.job.limits.out == sys::kibibytes(1));
  REQUIRE(made.job.files.size() == 3);
  for (const runtime::InputFile& file : made.job.files) {
    if (file.path == "data.bin") CHECK(file.content == "\xff");
    if (file.path == "file2.code") CHECK(file.content == "more");
    if (file.path == "h") CHECK(file.content == "hi");
  }
}

TEST_CASE("without limits the usual ones hold; 0, null and -1 of memory are none",
          "[service][piston]") {
  for (const json& changes : {json::object(), json{{"run_timeout", 0}},
                              json{{"run_timeout", nullptr}}, json{{"run_memory_limit", -1}}}) {
    const runtime::Job job = execution_of(with(changes)).job;
    CHECK(job.limits.wall == sys::Milliseconds(3000));
    CHECK(job.limits.cpu == sys::Milliseconds(3000));
    CHECK(job.limits.memory == runtime::Limits().memory);
    CHECK(job.stdin_bytes == "\n");
  }
}

TEST_CASE("refusals have the original's words", "[service][piston]") {
  CHECK(refusal_of(json::object()) == "language is required as a string");
  CHECK(refusal_of({{"language", "py"}, {"version", 3}}) == "version is required as a string");
  CHECK(refusal_of({{"language", "py"}, {"version", "*"}}) == "files is required as an array");
  CHECK(refusal_of(with({{"files", {{{"name", "x"}}}}})) ==
        "files[0].content is required as a string");
  CHECK(refusal_of(with({{"files", json::array()}})) ==
        "files must include at least one utf8 encoded file");
  CHECK(refusal_of(with({{"language", "cobol"}})) == "cobol-* runtime is unknown");
  CHECK(refusal_of(with({{"version", "2.x"}})) == "py-2.x runtime is unknown");
  CHECK(refusal_of(with({{"run_timeout", "1"}})) == "If specified, run_timeout must be a number");
  CHECK(refusal_of(with({{"run_timeout", 3001}})) ==
        "run_timeout cannot exceed the configured limit of 3000");
  CHECK(refusal_of(with({{"compile_timeout", 10001}})) ==
        "compile_timeout cannot exceed the configured limit of 10000");
  CHECK(refusal_of(with({{"run_timeout", -1}})) == "run_timeout must be non-negative");
}

TEST_CASE("other media types are 415, broken JSON is 400", "[service][piston]") {
  Request request = request_of(with(json::object()));
  request.headers.clear();
  auto made = read_execute(request, kLanguages, {}, {});
  CHECK(std::get<Response>(made).status == 415);
  request = request_of("");
  request.body = std::string(1, '{');
  made = read_execute(request, kLanguages, {}, {});
  CHECK(std::get<Response>(made).status == 400);
  CHECK(json::parse(std::get<Response>(made).body).contains("stack"));
}

TEST_CASE("stages tell how a program ended", "[service][piston]") {
  struct Case {
    json ours, code, signal, status;
    std::string message;  // begins so; empty: null
  };
  const json wall = {{"limit", "wall"}}, cpu = {{"limit", "cpu"}};
  const Case cases[] = {
      {result("OK", "program", kEndedWell), 0, nullptr, nullptr, ""},
      {result("NonZeroExit", "program", {{"code", 3}, {"signal", nullptr}}), 3, nullptr, "RE",
       "Exited with error status 3"},
      {result("ValueError", "program", {{"code", 1}, {"signal", nullptr}}), 1, nullptr, "RE",
       "Exited"},
      {result("Signalled", "program", {{"code", nullptr}, {"signal", "SIGSEGV"}}), nullptr,
       "SIGSEGV", "SG", "Caught fatal signal 11"},
      {result("TimeoutException", "limit", kKilled, wall), nullptr, "SIGKILL", "TO",
       "Time limit exceeded (wall clock)"},
      {result("TimeoutException", "limit", kKilled, cpu), nullptr, "SIGKILL", "TO",
       "Time limit exceeded"},
      {result("MemoryLimitExceeded", "limit", kKilled), nullptr, "SIGKILL", "SG", "Memory"},
      {result("OutputLimitExceeded", "limit", kKilled, {{"limit", "stdout"}}), nullptr, "SIGKILL",
       "OL", "stdout length exceeded"},
      {result("OutputLimitExceeded", "limit", kKilled, {{"limit", "stderr"}}), nullptr, "SIGKILL",
       "EL", "stderr length exceeded"},
      {result("UnsafeCode", "policy", kEndedWell), nullptr, "SIGSYS", "SG", "UnsafeCode"},
      {result("RateLimitExceeded", "program", {{"code", 1}, {"signal", nullptr}}), 1, nullptr, "RE",
       "Exited"},
      {result("SandboxError", "sandbox", kKilled, {{"message", "m"}}), nullptr, nullptr, "XX",
       "SandboxError: m"},
  };
  for (const Case& one : cases) {
    INFO(one.ours["label"]);
    const json answer = answer_to(one.ours);
    CHECK_FALSE(answer.contains("compile"));
    CHECK(answer["language"] == "python");
    CHECK(answer["version"] == "3.11.2");
    const json& run = answer["run"];
    CHECK(run["output"] == "outerr");
    CHECK(run["code"] == one.code);
    CHECK(run["signal"] == one.signal);
    CHECK(run["status"] == one.status);
    CHECK(run["memory"] == 3072);
    if (one.message.empty()) {
      CHECK(run["message"].is_null());
    } else {
      CHECK(run["message"].get<std::string>().starts_with(one.message));
    }
  }
}

TEST_CASE("compiled languages have a compile stage; one that fails is the run, too",
          "[service][piston]") {
  json ours = result("OK", "program", kEndedWell);
  ours["compile"] = {{"cached", false}, {"wall_ms", 500}};
  json answer = answer_to(ours, 1);
  CHECK(answer["compile"]["code"] == 0);
  CHECK(answer["compile"]["wall_time"] == 500);
  CHECK(answer["compile"]["stderr"] == "");
  CHECK(answer["run"]["stdout"] == "out");

  answer = answer_to(result("CompilationError", "program", kEndedWell), 1);
  CHECK(answer["compile"]["code"] == 1);
  CHECK(answer["compile"]["stderr"] == "err");
  CHECK(answer["run"] == answer["compile"]);
}

TEST_CASE("of several versions the latest that fits is meant", "[service][piston]") {
  const json runtimes = {
      {{"name", "python"}, {"available", true}, {"version", "Python 3.11.2"}},
      {{"name", "python-3.10.0"},
       {"language", "python"},
       {"available", true},
       {"version", "3.10.0"}},
      {{"name", "cms-1.0.0"}, {"language", "cms"}, {"available", true}, {"version", "1.0.0"}}};
  const std::vector<Language> languages = languages_of(runtimes_in(runtimes.dump()));
  auto template_of = [&languages](const char* name, const char* range) {
    auto made =
        read_execute(request_of(with({{"language", name}, {"version", range}})), languages, {}, {});
    return std::get<Execution>(std::move(made)).job.template_name;
  };
  CHECK(template_of("python", "*") == "python");
  CHECK(template_of("python", "3.10.x") == "python-3.10.0");
  CHECK(template_of("cms", "1") == "cms-1.0.0");
}

TEST_CASE("the scripts of a package learn the names of the texts", "[service][piston]") {
  const std::vector<Language> languages = {{"cms", {1, 0, 0}, {}, true, "cms-1.0.0", true}};
  const json files = {{{"name", "in.bin"}, {"content", "aGk="}, {"encoding", "base64"}},
                      {{"name", "src/a.cpp"}, {"content", "x"}},
                      {{"content", "y"}}};
  json body = with({{"language", "cms"}});
  body["files"] = files;
  auto made = read_execute(request_of(body), languages, {}, {});
  const runtime::Job job = std::get<Execution>(std::move(made)).job;
  CHECK(job.source_name == "src/a.cpp");
  CHECK(job.source_names == std::vector<std::string>{"src/a.cpp", "file2.code"});
  CHECK(job.files.size() == 2);

  body["files"] = {{{"name", "../a"}, {"content", "x"}}};
  made = read_execute(request_of(body), languages, {}, {});
  CHECK(std::get<Response>(made).status == 400);
}

TEST_CASE("packages can be listed, but not changed", "[service][piston]") {
  auto change = [](const json& body, Change what) {
    const Response response = change_packages(request_of(body), kLanguages, what);
    return std::pair(response.status, json::parse(response.body).at("message").get<std::string>());
  };
  const json list = json::parse(packages_response(kLanguages).body);
  CHECK(list[0] ==
        json{{"language", "python"}, {"language_version", "3.11.2"}, {"installed", true}});
  CHECK(change({{"language", "python"}, {"version", "3.x"}}, Change::kAdd) ==
        std::pair(500, std::string("Already installed")));
  CHECK(change({{"language", "cobol"}, {"version", "1"}}, Change::kAdd) ==
        std::pair(404, std::string("Requested package cobol-1 does not exist")));
  CHECK(change({{"language", "python"}, {"version", "*"}}, Change::kRemove).first == 500);
  Request typeless = request_of({});
  typeless.headers.clear();
  CHECK(change_packages(typeless, kLanguages, Change::kAdd).status == 415);
}

}  // namespace service::piston
