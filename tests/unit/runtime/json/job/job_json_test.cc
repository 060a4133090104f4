#include "runtime/json/job/job_json.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "runtime/json/job/job_fields.h"
#include "runtime/json/json_reader.h"
#include "runtime/values/value.h"

namespace runtime {
namespace {

std::string error_of(std::string_view line) {
  const auto job = parse_job(line, {});
  return job ? "(no error)" : job.error().text();
}

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (std::string_view part : parts) text += part;
  return text;
}

std::string with(std::string_view fields) { return joined({R"({"source": "x", )", fields, "}"}); }

Job parsed(std::string_view line, const JobDefaults& defaults = {}) {
  auto job = parse_job(line, defaults);
  INFO(line);
  INFO((job ? "" : job.error().text()));
  REQUIRE(job);
  return *job;
}

std::string as_json(std::string_view value) {
  std::string out;
  append_json(value, false, out);
  return out;
}

std::string call(std::string_view inputs) {
  return joined({R"({"source":"x","mode":"call","func":"f","inputs":)", inputs, "}"});
}

// The first input, through the value format and back.
std::string round_trip(const std::string& value) {
  const std::string calls = as_json(parsed(call(joined({"[", value, "]"}))).calls);
  const std::string head = "[[[", tail = "],{}]]";
  REQUIRE(calls.size() >= head.size() + tail.size());
  return calls.substr(head.size(), calls.size() - head.size() - tail.size());
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string grid_job(size_t size) {
  std::string grids;
  for (unsigned seed = 1; grids.size() < size;) {
    grids += grids.empty() ? "[" : ",[";
    for (int row = 0; row < 20; ++row) {
      grids += row > 0 ? ",[" : "[";
      for (int column = 0; column < 20; ++column) {
        seed = seed * 1103515245 + 12345;
        if (column > 0) grids += ',';
        grids += static_cast<char>('0' + (seed >> 16 & 7));
      }
      grids += ']';
    }
    grids += ']';
  }
  return call(joined({"[", grids, "]"}));
}

}  // namespace

TEST_CASE("the smallest job has a source and every default of the table", "[job]") {
  const Job job = parsed(R"({"source": "x"})");
  CHECK(job.source == "x");
  CHECK(job.tag == "null");
  CHECK(job.template_name == "python");
  CHECK(job.limits == Limits{});
  CHECK(job.policy == Policy{});
  CHECK(job.determinism_runs == 1);
  CHECK(job.fixed == FixedMode{});
  CHECK_FALSE(job.deadline);
}

TEST_CASE("fixed mode has a seed, a step and a start, and defaults of all three", "[job]") {
  const FixedMode usual = parsed(with(R"("determinism":{"mode":"fixed"})")).fixed;
  const FixedMode chosen = parsed(with(R"("determinism":{"mode":"fixed","seed":9007199254740991,)"
                                       R"("clock_step_us":0,"start":0})"))
                               .fixed;

  CHECK(usual == FixedMode{true, 0, 1, 1577836800});
  CHECK(chosen == FixedMode{true, FixedMode::kMaxSeed, 0, 0});
}

TEST_CASE("a job that is compared forgets what the defaults say of fixed mode", "[job]") {
  const auto defaults = parse_defaults(R"({"determinism":{"mode":"fixed","seed":5}})");
  REQUIRE(defaults);

  const auto fixed = parse_job(with(R"("determinism":{"start":7})"), *defaults);
  const auto compared = parse_job(with(R"("determinism":{"mode":"compare"})"), *defaults);

  REQUIRE(fixed);
  CHECK(fixed->fixed == FixedMode{true, 5, 1, 7});
  REQUIRE(compared);
  CHECK(compared->fixed == FixedMode{});
}

TEST_CASE("a job with every field is read into its place", "[job]") {
  const Job job = parsed(R"({"id":"7","tag": {"a" : [1, "x y"]},"template":"python-numpy",
    "source":"s","mode":"script","argv":["a","b c"],"env":{"K":"v"},"stdin":"in\n",
    "files":{"d/a.txt":{"text":"hi"},"b":{"b64":"aGk="}},
    "limits":{"wall_ms":1,"cpu_ms":2,"memory_mb":4,"pids":5,"stdout_kb":6,"stderr_kb":7,
              "value_kb":8,"disk_mb":9,"files":100,"open_files":110,"stack_mb":120},
    "policy":{"profile":"subprocess","on_violation":"kill","require":["full","cgroup.memory"]},
    "determinism":{"runs":2},"priority":-3,"deadline_ms":50,"array":false})");
  CHECK(job.id == "7");
  CHECK(job.tag == R"({"a":[1,"x y"]})");
  CHECK(job.argv == std::vector<std::string>{"a", "b c"});
  CHECK(job.env.at(0) == std::pair<std::string, std::string>("K", "v"));
  CHECK(job.stdin_bytes == "in\n");
  CHECK(job.files.at(0) == InputFile{"d/a.txt", "hi"});
  CHECK(job.files.at(1) == InputFile{"b", "hi"});
  CHECK(job.limits.wall.count() == 1);
  CHECK(job.limits.memory == sys::mebibytes(4));
  CHECK(job.limits.out == sys::kibibytes(6));
  CHECK(job.limits.open_files == 110);
  CHECK(job.limits.stack == sys::mebibytes(120));
  CHECK(job.policy.profile == sandbox::Profile::kSubprocess);
  CHECK(job.policy.on_violation == sandbox::OnViolation::kKill);
  CHECK(job.policy.require == std::vector<std::string>{"full", "cgroup.memory"});
  CHECK(job.determinism_runs == 2);
  CHECK(job.priority == -3);
  CHECK(job.deadline == sys::Milliseconds(50));
}

TEST_CASE("a directory among the files is a path with a slash, and stands for its name",
          "[job][json]") {
  const Job job = parsed(with(
      R"("files":{"logs":{"directory":true},"in/deep":{"directory":true},"in/x":{"text":"y"}})"));

  CHECK(job.files.at(0) == InputFile{"logs/", ""});
  CHECK(job.files.at(1) == InputFile{"in/deep/", ""});
  CHECK(job.files.at(2) == InputFile{"in/x", "y"});
}

TEST_CASE("stdin may be bytes that are no text", "[job]") {
  const Job job = parsed(with(R"("stdin":{"b64":"/wBh"},"tests":[{"stdin":{"b64":"gA=="}}])"));
  CHECK(job.stdin_bytes == std::string("\xFF\0a", 3));
  CHECK(job.tests.at(0).stdin_bytes == "\x80");
}

TEST_CASE("every mistake is an error that names the path", "[job][errors]") {
  const std::pair<std::string, const char*> table[] = {
      {with(R"("limits":{"cpu_ms":"a"})"), R"(limits.cpu_ms: expected an integer, got "a")"},
      {with(R"("limits":{"cpu_ms":1.5})"), "limits.cpu_ms: expected an integer, got 1.5"},
      {with(R"("limits":{"cpu_ms":null})"), "limits.cpu_ms: expected an integer, got null"},
      {with(R"("limits":{"cpu_ms":0})"),
       "limits.cpu_ms: expected a number from 1 to 86400000, got 0"},
      {with(R"("limits":{"cpu":1})"), "unknown field limits.cpu; did you mean cpu_ms?"},
      {with(R"("cpu_ms":1)"), "unknown field cpu_ms; did you mean limits.cpu_ms?"},
      {with(R"("timeout":1)"), "unknown field timeout; did you mean limits.wall_ms?"},
      {with(R"("memory_limit":1)"), "unknown field memory_limit; did you mean limits.memory_mb?"},
      {with(R"("language":"c")"), "unknown field language; did you mean template?"},
      {R"({"code":"pass"})", "unknown field code; did you mean source?"},
      {with(R"("limits":{"cpu_ms":1,"cpu_ms":1})"), "limits.cpu_ms: given twice"},
      {with(R"("limits":[])"), "limits: expected an object, got a list"},
      {with(R"("limit":{})"), "unknown field limit; did you mean limits?"},
      {with(R"("zzz":{})"), "unknown field zzz"},
      {with(R"("source":"x")"), "source: given twice"},
      {with(R"("wall_ms":1)"), "unknown field wall_ms; did you mean limits.wall_ms?"},
      {with(R"("template":5)"), "template: expected a string, got 5"},
      {with(R"("template":"python@sha256:00")"),
       "template: expected a name of letters, digits, '.', '_', '-', '+' and '#'"},
      {with(R"("mode":"cal")"), R"(mode: expected one of "script", "call", "shell", got "cal")"},
      {with(R"("array":1)"), "array: expected true or false, got 1"},
      {with(R"("argv":["a",1])"), "argv[1]: expected a string, got 1"},
      {with(R"("argv":["\u0000"])"), "argv[0]: a NUL inside"},
      {with(R"("env":{"A=B":"x"})"), R"(env["A=B"]: not a name of a variable)"},
      {with(R"("env":{"A":1})"), R"(env["A"]: expected a string, got 1)"},
      {with(R"("env":{"A":"1","A":"2"})"), R"(env["A"]: given twice)"},
      {with(R"("files":{"../x":{"text":""}})"), R"(files["../x"]: a path has no "." or "..")"},
      {with(R"("files":{"/x":{"text":""}})"), R"(files["/x"]: a path is relative)"},
      {with(R"("files":{"":{"text":""}})"), R"(files[""]: a path is not empty)"},
      {with(R"("files":{"a//b":{"text":""}})"), R"(files["a//b"]: a path has no empty part)"},
      {with(R"("files":{"a":{"text":""},"a/b":{"text":""}})"),
       R"(files["a/b"]: the folder of this path is given as a file)"},
      {with(R"("files":{"a":{"blob":"x"}})"),
       R"(files["a"]: expected sha256: and 64 hexadecimal digits)"},
      {with(R"("files":{"a":{}})"),
       R"(files["a"]: expected {"text": ..}, {"b64": ..}, {"blob": ..} or {"directory": true})"},
      {with(R"("files":{"a":{"directory":false}})"), R"(files["a"]: directory: expected true)"},
      {with(R"("files":{"a":{"directory":1}})"), R"(files["a"]: expected true, got 1)"},
      {with(R"("files":{"a":{"directory":true,"text":""}})"),
       R"(files["a"]: a directory has no content)"},
      {with(R"("files":{"a":{"text":"","directory":true}})"),
       R"(files["a"]: a directory has no content)"},
      {with(R"("files":{"a":{"directory":true,"executable":true}})"),
       R"(files["a"]: executable: not of a directory)"},
      {with(R"("files":{"a/":{"directory":true}})"), R"(files["a/"]: a path has no empty part)"},
      {with(R"("files":{"a":{"b64":"x"}})"), R"(files["a"]: not base64)"},
      {with(R"("files":{"a":{"text":"x","b64":""}})"),
       R"(files["a"]: one of text, b64 and blob, once)"},
      {with(R"("policy":{"profile":"none"})"),
       R"(policy.profile: expected one of "pure", "default", "subprocess", "build", got "none")"},
      {with(R"("policy":{"require":["full","cgroups"]})"),
       "policy.require[1]: unknown level or layer cgroups"},
      {with(R"("determinism":{"runs":9})"),
       "determinism.runs: expected a number from 1 to 8, got 9"},
      {with(R"("determinism":{"seed":1})"),
       R"(determinism.seed: only in fixed mode ("mode": "fixed"))"},
      {with(R"("determinism":{"mode":"compare","clock_step_us":1})"),
       R"(determinism.clock_step_us: only in fixed mode ("mode": "fixed"))"},
      {with(R"("determinism":{"start":0})"),
       R"(determinism.start: only in fixed mode ("mode": "fixed"))"},
      {with(R"("determinism":{"mode":"fixed","seed":9007199254740992})"),
       "determinism.seed: expected a number from 0 to 9007199254740991, got 9007199254740992"},
      {with(R"("tests":{})"), "tests: expected a list of tests, got an object"},
      {with(R"("mode":"call","func":"f","tests":[{"args":[],"expect":1,"compare":"tokens"}])"),
       "tests[0]: compare: a value is compared by json, exact or float:TOLERANCE"},
      {with(R"("mode":"call","func":"f","tests":[{"args":[],"compare":"exact",)"
            R"("expect":[1,{"$type":"set","items":[[1]]}]}])"),
       "tests[0].expect[1][\"items\"][0]: a set holds hashable values only"},
      {with(R"("tests":[{"stdin":"1"},{"stdin":1}])"),
       R"(tests[1].stdin: expected a string or {"b64": ".."}, got 1)"},
      {with(R"("stdin":{"b64":"?"})"), "stdin.b64: not base64"},
      {with(R"("stdin":{"b64":1})"), "stdin.b64: expected a string, got 1"},
      {with(R"("stdin":{})"), R"(stdin: expected a string or {"b64": ".."})"},
      {with(R"("stdin":{"text":""})"), R"(stdin: expected a string or {"b64": ".."})"},
      {with(R"("stdin":{"b64":"","b64":""})"), R"(stdin: expected a string or {"b64": ".."})"},
      {with(R"("outputs":["a","../b"])"), "outputs[1]: a path has no \".\" or \"..\""},
      {with(R"("func":"f")"), "func: only in call mode (\"mode\": \"call\")"},
      {with(R"("inputs":[])"), "inputs: only in call mode (\"mode\": \"call\")"},
      {with(R"("mode":"call","func":"f")"), "inputs: required in call mode (inputs or calls)"},
      {with(R"("mode":"call","inputs":[])"), "func: required in call mode"},
      {with(R"("mode":"call","func":"1f","inputs":[])"), "func: expected the name of a function"},
      {with(R"("mode":"call","func":"f","inputs":[],"calls":[])"),
       "calls: not together with inputs"},
      {with(R"("id":"")"), "id: is not empty"},
      {R"({"source":{"blob":"sha256:00"}})",
       "source.blob: expected sha256: and 64 hexadecimal digits"},
      {"{}", "source: required"},
      {"[]", "expected an object, got a list"},
      {"", "not JSON: byte 0: ends too early"},
      {R"({"source":"x"} x)", "not JSON: byte 15: something behind the end"},
      {std::string("{\"source\":\"x\"}\0", 15), "not JSON: byte 14: something behind the end"},
      {"{\"source\":\"\xFF\"}", "not JSON: byte 11: not UTF-8"},
      {R"({"source":"\ud800"})", "not JSON: byte 17: a lone surrogate"},
      {call("[[NaN]]"),
       R"(not JSON: byte 50: NaN and Infinity are written {"$type": "float", "value": "nan"})"},
      {call(R"([[1,{"a":[2,1e999]}]])"), R"(inputs[0][1]["a"][1]: number out of range: 1e999)"},
      {call(R"([{"a":1,"a":2}])"), "inputs[0]: the same key twice"},
      {call(R"([{"a":1,"$type":"set"}])"),
       "inputs[0]: \"$type\" must be the first key of its object"},
      {call(R"([{"$type":"sett"}])"), "inputs[0]: unknown $type \"sett\""},
      {call(R"([{"$type":"set","items":[[1]]}])"),
       R"(inputs[0]["items"][0]: a set holds hashable values only)"},
      {call(R"([{"$type":"dict","items":[[{},1]]}])"),
       R"(inputs[0]["items"][0]: a key must be hashable)"},
      {call(R"([{"$type":"ndarray","dtype":"int8","shape":[1],"data":[200]}])"),
       "inputs[0]: an item does not fit the dtype"},
      {call(R"([{"$type":"ndarray","dtype":"int8","shape":[2],"data":[1]}])"),
       "inputs[0]: the data does not have this shape"},
  };
  for (const auto& [line, expected] : table) {
    INFO(line);
    CHECK(error_of(line) == expected);
  }
}

TEST_CASE("inputs nested too deep are refused, and the deepest allowed makes a valid request",
          "[job]") {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  CHECK(error_of(call(nested(1000001))).ends_with("nested too deep"));
  CHECK(error_of(with(joined({"\"tag\":", nested(1000000)}))).ends_with("nested too deep"));
  CHECK(check(encode_request(parsed(call(joined({"[", nested(192), "]"}))))));
}

TEST_CASE("inputs become calls with one argument, and calls bring their own", "[job][values]") {
  CHECK(as_json(parsed(call("[1,[2]]")).calls) == "[[[1],{}],[[[2]],{}]]");
  const Job job = parsed(R"({"source":"x","mode":"call","func":"f","calls":[
      {"kwargs":{"k":1},"args":[[2],3]},{}]})");
  CHECK(as_json(job.calls) == R"([[[[2],3],{"k":1}],[[],{}]])");
  CHECK(error_of(R"({"source":"x","mode":"call","func":"f","calls":[{"args":1}]})") ==
        "calls[0].args: expected a list, got 1");
}

TEST_CASE("values survive the way in and out, tagged forms and long integers included",
          "[job][values]") {
  for (const char* value : {
           "null",
           "true",
           "0",
           "-1",
           "255",
           "256",
           "9223372036854775807",
           "9223372036854775808",
           "-123456789012345678901234567890",
           "1.0",
           "-0.0",
           "0.1",
           "1e+300",
           R"("\u0001ü\"")",
           "[]",
           "[[1,2],[3]]",
           R"({"a":{"b":[]}})",
           R"({"$type":"bytes","data":"aGk="})",
           R"({"$type":"float","value":"nan"})",
           R"({"$type":"float","value":"-inf"})",
           R"({"$type":"complex","real":1.0,"imag":{"$type":"float","value":"inf"}})",
           R"({"$type":"tuple","items":[1,[2]]})",
           R"({"$type":"set","items":["a",1,2]})",
           R"({"$type":"frozenset","items":[{"$type":"tuple","items":[1]}]})",
           R"({"$type":"dict","items":[[1,"one"],["$type",2]]})",
           R"({"$type":"ndarray","dtype":"int64","shape":[2,2],"data":[[1,2],[3,-4]]})",
           R"({"$type":"ndarray","dtype":"uint64","shape":[1],"data":[18446744073709551615]})",
       }) {
    CHECK(round_trip(value) == value);
  }
}

TEST_CASE("the items of a set are sorted by their encoding, so equal sets encode equally",
          "[job][values]") {
  CHECK(round_trip(R"({"$type":"set","items":["b",2,1,"a"]})") ==
        round_trip(R"({"$type":"set","items":["a",1,"b",2]})"));
}

TEST_CASE("defaults lie under each job: objects are merged, the rest is replaced",
          "[job][defaults]") {
  const auto defaults = parse_defaults(
      R"({"limits":{"cpu_ms":7,"pids":3},"env":{"A":"1","B":"2"},"argv":["x"],"func":"f","mode":"call"})");
  REQUIRE(defaults);

  const Job job = parsed(
      R"({"source":"x","limits":{"pids":4},"env":{"B":"3"},"argv":[],"inputs":[1]})", *defaults);
  CHECK(job.limits.cpu.count() == 7);
  CHECK(job.limits.pids == 4);
  CHECK(job.env == std::vector<std::pair<std::string, std::string>>{{"A", "1"}, {"B", "3"}});
  CHECK(job.argv.empty());
  CHECK(job.func == "f");
  CHECK(parsed(R"({"source":"x","mode":"script"})", *defaults).func.empty());
  CHECK_FALSE(parse_defaults(R"({"id":"1"})"));
  CHECK_FALSE(parse_defaults(R"({"limits":{"cpu":1}})"));
}

TEST_CASE("a line that is no job gets BadJob with line, message, path, and its id if it has one",
          "[job]") {
  const std::string line = R"({"id":"a","tag":[1, 2],"limits":{"cpu_ms":"x"}})";
  const JobIdentity identity = identity_of(line);
  CHECK(identity.id == "a");
  CHECK(identity.tag == "[1,2]");
  CHECK(identity_of(R"({"id":"a", broken)").id == "a");
  CHECK(identity_of("\xFF").tag == "null");

  const JobResult result = bad_job(3, identity.id, identity.tag, error_of(line));
  CHECK(result.verdict.label() == "BadJob");
  CHECK(result.verdict.by == By::kCaller);
  CHECK(result.verdict.detail ==
        Detail{{"line", int64_t{3}},
               {"message", R"(limits.cpu_ms: expected an integer, got "x")"},
               {"path", "limits.cpu_ms"}});
  CHECK(
      bad_job(1, "", "", "unknown field limits.cpu; did you mean cpu_ms?").verdict.detail.back() ==
      Detail::value_type{"path", "limits.cpu"});
  CHECK(bad_job(1, "", "", "calls[0]: unknown field kwords; expected args").verdict.detail.back() ==
        Detail::value_type{"path", "calls[0].kwords"});
  CHECK(bad_job(1, "", "", "not JSON: byte 1: x").verdict.detail.size() == 2);
}

TEST_CASE("our reader of JSON accepts what the library accepts, and refuses what it refuses",
          "[json]") {
  for (const char* text : {"1",
                           "-",
                           "01",
                           "-0",
                           "1.",
                           ".5",
                           "1e",
                           "1e+",
                           "1E-2",
                           "\"",
                           "\"\\x\"",
                           "\"\\u12\"",
                           "\"\t\"",
                           "[",
                           "]",
                           "[1,]",
                           "[,1]",
                           "[1 2]",
                           "{\"a\"}",
                           "{\"a\":1,}",
                           "{a:1}",
                           "{\"a\":1 \"b\":2}",
                           "tru",
                           "true",
                           "nul",
                           "nulll",
                           "[[],{}]",
                           " \r\n\t1 ",
                           "\"\\ud83d\\ude00\"",
                           "\"\\ude00\"",
                           "\"\\ud83dx\"",
                           "\"\\ud83d\\u0041\"",
                           "\xEF\xBB\xBF"
                           "1x",
                           "1\f",
                           "\"\x7F\"",
                           "\"\\/\"",
                           "1 1",
                           "\"\\uD8G0\""}) {
    JsonReader reader(text);
    std::string compact;
    INFO(text);
    CHECK((reader.skip(&compact) && reader.finish()) == nlohmann::json::accept(text));
  }
}

TEST_CASE("docs/jobs.md is what the table says (ZYGO_REGENERATE=1 zygo_unit_tests writes it)",
          "[job][docs]") {
  const std::string path = ZYGO_SOURCE_DIR "/docs/jobs.md";
  const std::string page = jobs_reference_markdown();
  if (std::getenv("ZYGO_REGENERATE") != nullptr) std::ofstream(path, std::ios::binary) << page;
  INFO("regenerate it: ZYGO_REGENERATE=1 build/release/bin/zygo_unit_tests '[docs]'");
  CHECK((read_file(path) == page));
}

TEST_CASE("names in the table of fields are the names of the policy", "[job][docs]") {
  for (const Field& field : job_fields()) {
    for (size_t i = 0; field.path == "policy.profile" && i < field.choices.size(); ++i) {
      CHECK(sandbox::name_of(static_cast<sandbox::Profile>(i)) == field.choices[i]);
    }
    const bool has_no_default = field.path == "deadline_ms" || field.path == "seed";
    if (field.kind != FieldKind::kInteger || has_no_default) continue;
    INFO(field.path);
    CHECK(field.number.get(Job{}) >= field.min);
    CHECK(field.number.get(Job{}) <= field.max);
  }
}

TEST_CASE("bench: a job line of 10 KB of grids", "[.bench]") {
  const std::string line = grid_job(10000);
  const auto time = [&](auto parse) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 2000; ++i) parse();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
               .count() /
           2000;
  };
  for (int round = 0; round < 3; ++round) {
    const double ours = time([&] { return parse_job(line, {}).ok(); });
    const double tree = time([&] { return nlohmann::json::parse(line).size(); });
    const double sax = time([&] { return nlohmann::json::accept(line); });
    std::cout << line.size() << " bytes: parse_job " << ours << " us, library tree " << tree
              << " us, library accept (SAX) " << sax << " us\n";
  }
  const Job job = parsed(line);
  std::string out;
  std::cout << "check " << time([&] { return check(job.calls).ok(); }) << " us, append_json "
            << time([&] { out.clear(), append_json(job.calls, true, out); })
            << " us, encode_request " << time([&] { return encode_request(job).size(); })
            << " us\n";
}

}  // namespace runtime
