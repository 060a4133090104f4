// Tests of what the service shows: traces, other pages, the page's files, history, statistics.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "service/admission/cors.h"
#include "service/admission/hosts.h"
#include "service/observe/failure_note.h"
#include "service/observe/stats.h"
#include "service/observe/trace_context.h"
#include "service/page/page.h"

namespace service {
namespace {

using std::chrono::seconds;

const std::string kTrace(32, 'a'), kParent(16, 'b');

std::optional<TraceContext> trace_of(const std::string& parent, const std::string& state = "") {
  return read_trace_context({{"traceparent", parent}, {"tracestate", state}});
}

Request request_from(const std::string& origin, const std::string& host = "127.0.0.1:8000") {
  Request request;
  request.method = Method::kPost;
  request.headers = {{"host", host}, {"origin", origin}};
  return request;
}

nlohmann::json stats_of(const Metrics& metrics, const History& history) {
  return nlohmann::json::parse(stats_json({"1", "full", "ready", {}, {}}, metrics, history));
}

}  // namespace

TEST_CASE("a trace is taken from a request, with a span of our own", "[service][trace]") {
  const auto trace = trace_of("00-" + kTrace + "-" + kParent + "-01", "a=1,b=2");

  REQUIRE(trace);
  CHECK(trace->trace_id == kTrace);
  CHECK(trace->parent_id == kParent);
  CHECK(trace->state == "a=1,b=2");
  CHECK(trace->span_id.size() == 16);
  CHECK(trace->span_id != kParent);
  CHECK(trace->response() == "00-" + kTrace + "-" + trace->span_id + "-01");
  std::string result = R"({"id":"a"})";
  add_service_object(trace, result);
  const auto read = nlohmann::json::parse(result);
  CHECK(read["service"]["trace"]["trace_id"] == kTrace);
  CHECK(read["service"]["trace"]["flags"] == 1);
}

TEST_CASE("a malformed traceparent is as none, a newer one is read as far as it is known",
          "[service][trace]") {
  const std::string good = kTrace + "-" + kParent + "-01";
  for (const std::string& wrong :
       {std::string(), std::string("00"), "ff-" + good, "0-" + good, "00-" + good + "-x",
        "00-" + good + "0", "00-" + std::string(32, '0') + "-" + kParent + "-01",
        "00-" + kTrace + "-" + std::string(16, '0') + "-01",
        "00-" + std::string(32, 'A') + "-" + kParent + "-01", "00_" + good, "00-" + kTrace + "-01",
        "00-" + kTrace + "-" + kParent + "-0g", "01-" + good + ".x"}) {
    INFO(wrong);
    CHECK_FALSE(trace_of(wrong));
  }
  CHECK(trace_of("01-" + good + "-more")->flags == 1);
  CHECK(trace_of("cc-" + good));
  CHECK_FALSE(read_trace_context({{"traceparent", "00-" + good}, {"traceparent", "00-" + good}}));
  CHECK_FALSE(read_trace_context({{"tracestate", "a=1"}}));
}

TEST_CASE("a tracestate that cannot be passed on is dropped, the trace stays", "[service][trace]") {
  const std::string parent = "00-" + kTrace + "-" + kParent + "-00";
  for (const std::string& wrong : {std::string("a"), std::string("=1"), std::string("a=\x01"),
                                   std::string("a=1,"), "a=" + std::string(600, 'x')}) {
    INFO(wrong);
    CHECK(trace_of(parent, wrong)->state.empty());
  }
  const auto joined =
      read_trace_context({{"tracestate", "a=1"}, {"traceparent", parent}, {"tracestate", "b=2"}});
  CHECK(joined->state == "a=1,b=2");
}

TEST_CASE("pages of others are let in by their origin, letter for letter", "[service][cors]") {
  Cors cors;
  CHECK(cors.headers(request_from("https://a.example")).empty());
  CHECK(cors.add("https://a.example").ok());
  for (const char* wrong : {"a.example", "https://", "https://a.example/", "https://A.example",
                            "null", "ftp://a", "http://a b", ""})
    CHECK_FALSE(cors.add(wrong).ok());

  CHECK(cors.allows(request_from("https://a.example")));
  for (const char* other : {"https://a.example.evil", "http://a.example", "https://b.example"}) {
    CHECK_FALSE(cors.allows(request_from(other)));
    CHECK(cors.headers(request_from(other)) == Headers{{"Vary", "Origin"}});
  }
  CHECK_FALSE(cors.anyone());
  CHECK(cors.add("*").ok());
  CHECK(cors.headers(request_from("https://b.example")).front().second == "*");
}

TEST_CASE("pages of others may send what the SDKs of others' APIs send", "[service][cors]") {
  std::string allowed;
  for (const auto& [name, value] : Cors::preflight_response().headers) {
    if (name == "Access-Control-Allow-Headers") allowed = ", " + value + ",";
  }
  for (const char* name : {"Mcp-Session-Id", "X-API-Key", "X-Access-Token", "E2b-Sandbox-Id",
                           "E2b-Sandbox-Port", "Connect-Protocol-Version", "Connect-Timeout-Ms"}) {
    CAPTURE(name);
    CHECK(allowed.find(std::string(", ") + name + ",") != std::string::npos);
  }
}

TEST_CASE("our own page is known by an address that nobody else can have", "[service][cors]") {
  for (const char* host : {"127.0.0.1:8000", "10.0.0.7", "[::1]:8000", "localhost:8000"})
    CHECK(is_own_page(request_from("http://" + std::string(host), host)));
  CHECK_FALSE(is_own_page(request_from("http://evil.example:8000", "evil.example:8000")));
  CHECK_FALSE(is_own_page(request_from("http://1.evil:8000", "1.evil:8000")));
  CHECK_FALSE(is_own_page(request_from("http://evil.example", "127.0.0.1:8000")));
  CHECK_FALSE(is_own_page(request_from("http://127.0.0.1:9000", "127.0.0.1:8000")));
  CHECK_FALSE(is_own_page(request_from("null")));
  CHECK_FALSE(is_own_page(request_from("http://[", "[")));
}

TEST_CASE("a name that a stranger can have made to point here is not known", "[service][hosts]") {
  Hosts hosts;
  const auto known = [&hosts](const char* host, bool this_host) {
    Request request;
    request.headers = {{"host", host}};
    return hosts.knows(request, this_host);
  };
  for (const bool this_host : {true, false}) {
    for (const char* host : {"127.0.0.1:8000", "10.0.0.7", "[::1]:8000", "localhost:8000",
                             "LOCALHOST", "localhost.:80", ""})
      CHECK(known(host, this_host));
    for (const char* host : {"evil.example", "evil.example:8000", "localhost.evil.example",
                             "1.evil", "127.0.0.1.evil.example", "svc.evil.example", "evil.svcs"})
      CHECK_FALSE(known(host, this_host));
    CHECK(hosts.knows({}, this_host));
  }
  for (const char* host :
       {"zygo:8000", "zygo.default.svc", "zygo.default.svc.cluster.local:80", "box.internal"}) {
    CHECK(known(host, false));
    CHECK_FALSE(known(host, true));
  }
  CHECK(hosts.add("Zygo.Example").ok());
  CHECK(known("zygo.example:443", true));
  CHECK(known("ZYGO.example.", true));
  CHECK_FALSE(known("a.zygo.example", true));
  for (const char* wrong : {"", ".", "zygo:8000", "http://zygo", "*", "a b"})
    CHECK_FALSE(hosts.add(wrong).ok());
}

TEST_CASE("a pattern allows the names below it, and no others", "[service][hosts]") {
  Hosts hosts;
  REQUIRE(hosts.add("*.Zygo.Example").ok());
  const auto known = [&hosts](const char* host) {
    Request request;
    request.headers = {{"host", host}};
    return hosts.knows(request, true);
  };

  CHECK(known("49999-i0a.zygo.example:443"));
  CHECK(known("A.B.zygo.example."));
  CHECK_FALSE(known("zygo.example"));
  CHECK_FALSE(known(".zygo.example"));
  CHECK_FALSE(known("azygo.example"));
  CHECK_FALSE(known("zygo.example.stranger.example"));
  for (const char* wrong :
       {"*", "*.", "*.example", "*..example", "a.*.example", "*.a.*", "**.a.b"}) {
    CAPTURE(wrong);
    CHECK_FALSE(hosts.add(wrong).ok());
  }
}

TEST_CASE("the page's files are there, and load nothing of others", "[service][page]") {
  const PageFile* html = page_file("/");
  REQUIRE(html != nullptr);
  CHECK(html->text.starts_with("<!doctype html>"));
  for (const PageFile& file : page_files()) {
    INFO(file.path);
    CHECK(file.text.find("innerHTML") == file.text.npos);
    // Names addresses in comments; has nothing in it where the build found none.
    if (file.path.starts_with("/page/codemirror.")) continue;
    CHECK(file.text.size() > 100);
    CHECK(file.text.find("https://") == file.text.npos);
  }
  CHECK(page_file("/page/") == nullptr);
  CHECK(page_file("/page/../etc/passwd") == nullptr);

  Request again;
  again.headers = {{"if-none-match", "W/" + std::string(html->etag)}};
  CHECK(page_response(*html, again).status == 304);
  CHECK(page_response(*html, again).body.empty());
  CHECK(page_response(*html, Request{}).body == html->text);
}

TEST_CASE("a second of history is what happened in it", "[service][history]") {
  History history;
  history.standing(seconds(10), 3, 2);
  history.job_ended(seconds(10), true, 100);
  history.job_ended(seconds(10), false, 300);
  history.standing(seconds(10), 1, 1);
  history.job_refused(seconds(11));

  const auto past = history.seconds(seconds(13));

  REQUIRE(past.size() == 3);
  CHECK(past[0].ended == 2);
  CHECK(past[0].ok == 1);
  CHECK(past[0].queued == 3);
  CHECK(past[0].p99_us == 100);  // the lower of two
  CHECK(past[1].refused == 1);
  CHECK(past[1].queued == 1);  // as it was left
  CHECK(past[2].p50_us == 0);
  CHECK(past[2].running == 1);
}

TEST_CASE("history is bounded, however long nobody looks and however much happens",
          "[service][history]") {
  History history;
  history.job_ended(seconds(1), true, 5);
  CHECK(history.seconds(seconds(1'000'000)).size() == History::kSeconds);
  for (int i = 0; i < 200; ++i) history.job_failed(std::to_string(i));
  CHECK(history.failures().size() == History::kFailures);
  CHECK(history.failures().front() == "199");
  for (int i = 0; i < 2000; ++i) history.job_times({0, 0, 0, i, 0, 0, 0, i});
  CHECK(history.recent() == History::kRecent);
  CHECK(history.quantiles()[History::kRun].p50 == 1499);
}

TEST_CASE("a failure is remembered without what the program or its tests say", "[service][stats]") {
  runtime::JobResult result;
  result.verdict = {
      runtime::Outcome::kWrongAnswer,
      "",
      runtime::By::kProgram,
      {{"where", "at token 1"}, {"expected", "SECRET"}, {"got", "SAID"}, {"line", 3}}};
  result.out.bytes = "SAID";
  result.exit = runtime::ExitStatus{};
  const std::string note = failure_note(result);

  const auto read = nlohmann::json::parse("{" + note + "}");
  CHECK(read["label"] == "WrongAnswer");
  CHECK(read["detail"] == nlohmann::json({{"where", "at token 1"}, {"line", 3}}));
  CHECK(note.find("SECRET") == note.npos);
  CHECK(note.find("SAID") == note.npos);
  result.verdict = {runtime::Outcome::kOk, "", runtime::By::kProgram, {}};
  CHECK(failure_note(result).empty());
}

TEST_CASE("statistics are JSON whatever labels programs make up", "[service][stats]") {
  Metrics metrics;
  History history;
  for (int i = 0; i < 100; ++i)
    metrics.job_ended(
        {.label = "E\"\xff\n" + std::to_string(i), .template_name = "t", .api = "zygo"});
  metrics.job_ended({.label = "OK", .template_name = "t", .api = "piston"});
  history.job_failed(R"({"label":"E"})");
  history.job_failed("broken");

  const auto stats = stats_of(metrics, history);

  CHECK(stats["jobs"]["total"] == 101);
  CHECK(stats["jobs"]["ok"] == 1);
  CHECK(stats["jobs"]["labels"].size() == 25);
  CHECK(stats["jobs"]["labels"].back()["label"] == "(other)");
  REQUIRE(stats["failures"].size() == 1);
  CHECK(stats["failures"][0]["label"] == "E");
  CHECK(stats["history"]["most"] == History::kSeconds);
}

}  // namespace service
