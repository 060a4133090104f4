#include "runtime/json/result/result_json.h"

#include <catch2/catch.hpp>
#include <limits>
#include <nlohmann/json.hpp>

#include "runtime/values/json_text.h"
#include "runtime/values/utf8.h"
#include "runtime/values/value.h"

namespace runtime {
namespace {

std::string line_of(const JobResult& result) {
  std::string out;
  append_result(result, out);
  return out;
}

JobResult ok_result() {
  JobResult result;
  result.id = "a";
  result.verdict = {
      .outcome = Outcome::kOk, .exception_type = {}, .by = By::kProgram, .detail = {}};
  result.exit = ExitStatus{};
  result.level = sandbox::Level::kFull;
  result.enforced = sandbox::Layers().with(sandbox::Layer::kSeccomp).with(sandbox::Layer::kUserNs);
  result.template_id = "python@sha256:00";
  return result;
}

}  // namespace

TEST_CASE("a result is written to the letter of the contract", "[result]") {
  JobResult result = ok_result();
  result.out = {.bytes = "hi\n", .total = 3};
  result.value = std::string("l\1\0\0\0u\5", 7);
  result.usage = {.cpu_us = 1499, .wall_us = 1500, .memory_peak_bytes = 4096, .pids_peak = 2};
  result.timing = {
      .admit = 1, .lease = 2, .fork = 3, .confine = 4, .run = 5, .collect = 6, .judge = 7};
  CHECK(line_of(result) ==
        R"({"id":"a","tag":null,"label":"OK","by":"program","ok":true,"detail":{},)"
        R"("exit":{"code":0,"signal":null},)"
        R"("stdout":{"text":"hi\n","bytes":3,"truncated":false,"lossy":false},)"
        R"("stderr":{"text":"","bytes":0,"truncated":false,"lossy":false},"value":[5],)"
        R"("usage":{"cpu_ms":1,"wall_ms":2,"memory_peak_kb":4,"pids_peak":2,"contended":false,)"
        R"("cpu_us":1499,"wall_us":1500},)"
        R"("timing_us":{"admit":1,"lease":2,"fork":3,"confine":4,"run":5,"collect":6,"judge":7},)"
        R"("enforced":["userns","seccomp"],"level":"full","template":"python@sha256:00"})");
}

TEST_CASE("times are rounded to milliseconds, the longest one too", "[result]") {
  JobResult result = ok_result();
  result.usage = {.cpu_us = std::numeric_limits<int64_t>::max(), .wall_us = -1};
  CHECK(line_of(result).find(R"("cpu_ms":9223372036854776,"wall_ms":0,)") != std::string::npos);
}

TEST_CASE("when a program was stopped is told apart from when it was reaped", "[result]") {
  JobResult result = ok_result();
  result.usage = {.wall_us = 5000, .stopped_us = 3000};
  CHECK(line_of(result).find(R"("wall_us":5000,"stopped_us":3000})") != std::string::npos);
}

TEST_CASE("a job that was judged anew says what the run before took", "[result]") {
  JobResult result = ok_result();
  CHECK(line_of(result).find("rerun") == std::string::npos);
  result.usage = {.wall_us = 5000, .reruns = 1, .rerun_cpu_us = 700};
  CHECK(line_of(result).find(R"("wall_us":5000,"reruns":1,"rerun_cpu_us":700})") !=
        std::string::npos);
}

TEST_CASE("a result of a job that never ran has nulls for what it never had", "[result]") {
  const auto json = nlohmann::json::parse(line_of(JobResult{}));
  CHECK(json["label"] == "SandboxError");
  CHECK(json["by"] == "sandbox");
  CHECK(json["exit"] == nlohmann::json({{"code", nullptr}, {"signal", nullptr}}));
  CHECK(json["value"].is_null());
  CHECK(json["level"].is_null());
  CHECK_FALSE(json.contains("exception"));
  CHECK_FALSE(json.contains("determinism"));
}

TEST_CASE("details, signals, exceptions and determinism are shown when there are any", "[result]") {
  JobResult result = ok_result();
  result.tag = R"({"k":[1]})";
  result.verdict = {.outcome = Outcome::kException,
                    .exception_type = "OK\"}\n",
                    .by = By::kProgram,
                    .detail = {{"n", int64_t{-1}}, {"r", 0.5}, {"b", true}, {"t", "\x1b"}}};
  result.exit = ExitStatus{.signalled = true, .code = 9};
  result.exception = Exception{"T", "m\xFF", "tb", 3};
  result.determinism = DeterminismReport{2, false, "value", "[0]"};

  const std::string line = line_of(result);
  const auto json = nlohmann::json::parse(line);

  CHECK(line.find('\n') == std::string::npos);
  CHECK(json["tag"]["k"][0] == 1);
  CHECK(json["label"] == "OK\"}\n");
  CHECK(json["detail"] == nlohmann::json({{"n", -1}, {"r", 0.5}, {"b", true}, {"t", "\x1b"}}));
  CHECK(json["exit"]["signal"] == "SIGKILL");
  CHECK(json["exit"]["code"].is_null());
  CHECK(json["exception"] ==
        nlohmann::json({{"type", "T"}, {"message", "m\uFFFD"}, {"traceback", "tb"}}));
  CHECK(json["determinism"] ==
        nlohmann::json({{"runs", 2}, {"same", false}, {"axis", "value"}, {"where", "[0]"}}));
}

TEST_CASE("output that is not UTF-8, or was cut inside a character, is repaired and says lossy",
          "[result]") {
  JobResult result = ok_result();
  result.out = {.bytes = "gr\xC3", .total = 5, .truncated = true};
  result.err = {.bytes = "gr\xC3\xBC\n", .total = 5};
  const auto json = nlohmann::json::parse(line_of(result));
  CHECK(json["stdout"]["text"] == "gr\uFFFD");
  CHECK(json["stdout"]["lossy"] == true);
  CHECK(json["stdout"]["truncated"] == true);
  CHECK(json["stderr"]["text"] == "gr\u00FC\n");
  CHECK(json["stderr"]["lossy"] == false);
}

TEST_CASE("every byte, alone and behind a lead byte, makes valid JSON", "[result][utf8]") {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; second += 5) {
      const std::string text = {static_cast<char>(first), static_cast<char>(second)};
      std::string out;
      const Repair repair = append_json_string(text, out);
      REQUIRE(nlohmann::json::accept(out));
      CHECK((repair == Repair::kNone) == is_utf8(text));
      CHECK((nlohmann::json::parse(out).get<std::string>() == repaired_utf8(text)));
    }
  }
}

TEST_CASE("UTF-8 excludes overlong forms, surrogates and what lies past the last code point",
          "[utf8]") {
  for (const char* good : {"", "a", "\xC2\x80", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
                           "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF", "12345678\xC3\xBC"}) {
    CHECK(is_utf8(good));
  }
  for (const char* bad :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xC3", "\xE2\x82", "1234567\xC3"}) {
    CHECK_FALSE(is_utf8(bad));
  }
  CHECK(utf8_head("ab\xC3\xBC", 3) == "ab");
  CHECK(utf8_tail("\xC3\xBC"
                  "ab",
                  3) == "ab");
}

TEST_CASE("base64 of many megabytes is that of its parts", "[result]") {
  const std::string raw(size_t{7} << 20, 'z');  // of 3 n + 1 bytes
  std::string text, back;
  append_base64(raw, text);
  CHECK(text.size() == (raw.size() + 2) / 3 * 4);
  CHECK(text.find('=') == text.size() - 2);
  REQUIRE(append_from_base64(text, back));
  CHECK((back == raw));
  text[5] = '=';
  CHECK_FALSE(append_from_base64(text, back));
}

TEST_CASE("base64 goes both ways and refuses what is not base64", "[result]") {
  for (const char* raw : {"", "a", "ab", "abc", "abcd", "\xFF\xFE\xFD"}) {
    std::string text, back;
    append_base64(raw, text);
    CHECK(append_from_base64(text, back));
    CHECK(back == raw);
  }
  for (const char* bad : {"a", "ab=", "a===", "====", "=abc", "ab=c", "a b=", "ab==abcd", "\xFFxxx",
                          "    abcd", "abcd\n\n\n\n", "abc-", "abcd----"}) {
    std::string back;
    CHECK_FALSE(append_from_base64(bad, back));
  }
}

}  // namespace runtime
