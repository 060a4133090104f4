#include "service/apis/judge0/request.h"

#include <catch2/catch.hpp>

#include "runtime/values/json_text.h"
#include "tests/unit/images/zip.h"

namespace service::judge0 {

using nlohmann::json;

namespace {

using Words = std::vector<std::string>;

std::vector<Language> languages(Counting counting = Counting::kUsed,
                                Edition edition = Edition::kCe) {
  std::vector<InstalledRuntime> runtimes;
  for (const auto& [name, version, how] :
       {std::array{"python", "3.11.2", "warm"}, std::array{"c", "12.2.0", "compiled"},
        std::array{"java", "17.0.1", "compiled"},
        std::array{"bash", "5.2.15(1)-release", "executed"}}) {
    InstalledRuntime runtime;
    runtime.name = name;
    runtime.version = version;
    runtime.how = how;
    runtime.available = true;
    runtimes.push_back(runtime);
  }
  InstalledRuntime missing;
  missing.name = "php";
  runtimes.push_back(missing);
  return languages_of(runtimes, edition, counting);
}

ReadSubmission read(const json& body, Encoding encoding = Encoding::kPlain) {
  auto made = read_create(body.dump(), encoding, languages(), {});
  REQUIRE(std::holds_alternative<ReadSubmission>(made));
  return std::get<ReadSubmission>(std::move(made));
}

NewSubmission accepted(const json& body, Encoding encoding = Encoding::kPlain) {
  auto made = read(body, encoding);
  REQUIRE(std::holds_alternative<NewSubmission>(made));
  return std::get<NewSubmission>(std::move(made));
}

std::string refused(const json& body, Encoding encoding = Encoding::kPlain) {
  auto made = read(body, encoding);
  REQUIRE(std::holds_alternative<Objections>(made));
  return std::get<Objections>(made).dump();
}

json with(const char* field, const json& value) {
  json body = {{"source_code", "x"}, {"language_id", 71}};
  body[field] = value;
  return body;
}

}  // namespace

TEST_CASE("judge0: a language has the original's ids and the installed version",
          "[service][judge0]") {
  const auto list = json::parse(languages_response(languages(), Archived::kUntold).body);
  CHECK(list.at(0) == json{{"id", 43}, {"name", "Plain Text"}});
  CHECK(list.at(2) == json{{"id", 46}, {"name", "Bash (5.2.15)"}});
  CHECK(list.at(3) == json{{"id", 48}, {"name", "C (GCC 12.2.0)"}});
  CHECK(find_language(languages(), 68) == nullptr);
  const json one = json::parse(language_response(languages(), "71").body);
  CHECK(one.at("name") == "Python (3.11.2)");
  CHECK(one.at("is_archived") == false);
  for (const char* id : {"68", "7x", "", "99999999999999999999"})
    CHECK(language_response(languages(), id).status == 404);
}

TEST_CASE("the other edition has languages of its own", "[service][judge0]") {
  std::vector<int64_t> ids;
  for (const Language& each : languages(Counting::kUsed, Edition::kExtraCe)) ids.push_back(each.id);
  CHECK(ids == std::vector<int64_t>{4, 10, 25, 33, 89});
  CHECK(find_language(languages(), 10) == nullptr);
}

TEST_CASE("judge0: a submission becomes a job with the original's usual limits",
          "[service][judge0]") {
  const auto made = accepted({{"source_code", "print(1)"}, {"language_id", 71}, {"stdin", "a"}});
  CHECK(made.job.template_name == "python");
  CHECK(made.job.source == "print(1)");
  CHECK(made.job.stdin_bytes == "a");
  CHECK(made.job.limits.cpu == sys::Milliseconds(6000));  // with the extra time
  CHECK(made.job.limits.wall == sys::Milliseconds(10'000));
  CHECK(made.job.limits.memory == sys::kibibytes(128'000));
  CHECK(made.job.limits.stack == sys::kibibytes(64'000));
  CHECK(made.job.limits.pids == 60);
  CHECK(made.job.limits.file == sys::kibibytes(1024));
  CHECK(made.job.limits.out == sys::kibibytes(1024));
  CHECK_FALSE(made.asked.expected_output);
}

TEST_CASE("judge0: where all that is mapped counts, stacks of threads must not fill the memory",
          "[service][judge0]") {
  const auto limits = [](int64_t id) {
    const json body = {{"source_code", "x"}, {"language_id", id}};
    auto made = read_create(body.dump(), Encoding::kPlain, languages(Counting::kMapped), {});
    return std::get<NewSubmission>(std::get<ReadSubmission>(made)).job.limits;
  };
  CHECK(limits(50).stack == sys::kibibytes(64'000));
  CHECK(limits(71).stack == sys::Bytes{0});
  CHECK(limits(71).memory == sys::kibibytes(128'000));
  CHECK(limits(62).stack == sys::Bytes{0});
  CHECK(limits(62).memory == sys::mebibytes(1024));
}

TEST_CASE("judge0: limits are numbers or their texts", "[service][judge0]") {
  const auto limits = [](const char* field, const json& value) {
    return accepted(with(field, value)).job.limits;
  };
  CHECK(limits("cpu_time_limit", 0.5).cpu == sys::Milliseconds(1500));
  CHECK(limits("cpu_time_limit", "0.5").cpu == sys::Milliseconds(1500));
  CHECK(limits("cpu_time_limit", 0).cpu == sys::Milliseconds(runtime::kDayMs));
  CHECK(limits("memory_limit", 64'000.7).memory == sys::kibibytes(64'000));
  CHECK(limits("memory_limit", 2048).memory == sys::mebibytes(4));  // our least
  CHECK(limits("max_file_size", 0).file == sys::Bytes{0});
  CHECK(limits("wall_time_limit", nullptr).wall == sys::Milliseconds(10'000));
}

TEST_CASE("judge0: values out of range are refused in the original's words", "[service][judge0]") {
  const std::tuple<const char*, json, const char*> cases[] = {
      {"cpu_time_limit", 15.5, "must be less than or equal to 15.0"},
      {"cpu_time_limit", -1, "must be greater than or equal to 0"},
      {"cpu_extra_time", 6, "must be less than or equal to 5.0"},
      {"wall_time_limit", 0.5, "must be greater than or equal to 1"},
      {"memory_limit", 2047, "must be greater than or equal to 2048"},
      {"memory_limit", 512'001, "must be less than or equal to 512000"},
      {"max_processes_and_or_threads", 0, "must be greater than 0"},
      {"number_of_runs", 2, "must be less than or equal to 1"},
      {"max_file_size", "big", "is not a number"},
      {"stack_limit", "nan", "is not a number"},
      {"stack_limit", json::array(), "is not a number"},
      {"enable_network", true, "enabling network is not allowed"},
      {"callback_url", "http://x", "setting callback is not allowed"},
      {"additional_files", "?", "is not base64"},
      {"redirect_stderr_to_stdout", true, "this option cannot be enabled"},
      {"enable_per_process_and_thread_time_limit", 1, "this option cannot be enabled"},
      {"compiler_options", "-O3",
       "setting compiler options is only allowed for compiled languages"},
      {"command_line_arguments", std::string(513, 'a'), "is too long (maximum is 512 characters)"},
      {"language_id", 68, "language with id 68 doesn't exist"},
      {"source_code", " \n", "can't be blank"},
      {"stdin", {{"a", 1}}, "is not a text"}};
  for (const auto& [field, value, why] : cases)
    CHECK(refused(with(field, value)) == json{{field, {why}}}.dump());
}

TEST_CASE("judge0: options that are not offered may be turned off", "[service][judge0]") {
  for (const char* field : {"enable_network", "redirect_stderr_to_stdout", "callback_url",
                            "additional_files", "enable_per_process_and_thread_memory_limit"}) {
    for (const json& off : {json(false), json(nullptr), json("")})
      CHECK_FALSE(accepted(with(field, off)).job.source.empty());
  }
}

TEST_CASE("judge0: all objections of a submission are told", "[service][judge0]") {
  CHECK(refused(json::object()) ==
        R"({"language_id":["can't be blank"],"source_code":["can't be blank"]})");
}

TEST_CASE("judge0: texts in base64 may be any bytes, but for a source", "[service][judge0]") {
  const auto made = accepted({{"source_code", "cHJp\nbnQoMSk=\n"},
                              {"language_id", "71"},
                              {"stdin", "/w"},
                              {"expected_output", ""}},
                             Encoding::kBase64);
  CHECK(made.job.source == "print(1)");
  CHECK(made.job.stdin_bytes == "\xff");
  CHECK(made.asked.expected_output == "");
  CHECK(refused(with("source_code", "/w=="), Encoding::kBase64) ==
        R"({"source_code":["is not UTF-8"]})");
  CHECK(refused(with("source_code", "print(1)"), Encoding::kBase64) ==
        R"({"source_code":["is not base64"]})");
}

TEST_CASE("judge0: an executable is a file of a script of ours", "[service][judge0]") {
  const auto made = accepted({{"source_code", "f0VMRv8="}, {"language_id", 44}}, Encoding::kBase64);
  CHECK(made.job.template_name == "bash");
  REQUIRE(made.job.files.size() == 1);
  CHECK(made.job.files[0].path == "a.out");
  CHECK(made.job.files[0].content ==
        "\x7f"
        "ELF\xff");
}

TEST_CASE("judge0: options and arguments are words as a shell reads them", "[service][judge0]") {
  CHECK(words_in(" -O3  -D'A B'=\"c d\" '' e\\ f ") == Words{"-O3", "-DA B=c d", "", "e f"});
  CHECK(words_in("a;b $(c) `d` 'open") == Words{"ab", "(c)", "d", "open"});
  CHECK(words_in(" ").empty());
  const auto made = accepted({{"source_code", "int main(){}"},
                              {"language_id", 50},
                              {"compiler_options", "-O3 -std=c11"},
                              {"command_line_arguments", "1 'two 3'"}});
  CHECK(made.job.compiler_flags == Words{"-std=gnu17", "-O0", "-O3", "-std=c11"});
  CHECK(made.job.argv == Words{"1", "two 3"});
}

TEST_CASE("judge0: a batch has one to twenty submissions", "[service][judge0]") {
  const auto read = [](const json& body) { return read_batch(body.dump(), {}, languages(), {}); };
  const auto why = [&read](const json& body) {
    auto made = read(body);
    REQUIRE(std::holds_alternative<Response>(made));
    CHECK(std::get<Response>(made).status == 400);
    return json::parse(std::get<Response>(made).body).at("error").get<std::string>();
  };
  const json good = with("stdin", "");
  json list = json::array({good, {{"language_id", 71}}});
  const auto batch = std::get<std::vector<ReadSubmission>>(read({{"submissions", list}}));
  REQUIRE(batch.size() == 2);
  CHECK(std::holds_alternative<NewSubmission>(batch[0]));
  CHECK(std::holds_alternative<Objections>(batch[1]));
  CHECK(why(json::object()) == "there should be at least one submission in a batch");
  CHECK(why({{"submissions", json::array()}}) == why(json::object()));
  CHECK(why({{"submissions", json(21, good)}}).ends_with("should be less than or equal to 20"));
  CHECK(why({{"submissions", {1}}}) == "submissions: expected a list of objects");
  CHECK(why({{"submissions", 1}}) == "submissions: expected a list");
  CHECK(why(json::array()) == "the body is not a JSON object");
}

TEST_CASE("judge0: a submission may name where it is told how it ended", "[service][judge0]") {
  const Callbacks::Check callbacks = [](std::string_view url) -> sys::Result<void> {
    if (url.starts_with("http://here/")) return {};
    return sys::Error::because("is elsewhere");
  };
  const auto read = [&](const json& url) {
    const json body = {{"source_code", "1"}, {"language_id", 71}, {"callback_url", url}};
    auto made = read_create(body.dump(), Encoding::kPlain, languages(), {}, {callbacks});
    return std::get<ReadSubmission>(std::move(made));
  };
  CHECK(std::get<NewSubmission>(read("http://here/7")).asked.callback_url == "http://here/7");
  for (const json& none : {json(), json("")})
    CHECK_FALSE(std::get<NewSubmission>(read(none)).asked.callback_url);
  CHECK(std::get<Objections>(read("http://there/")).dump() ==
        R"({"callback_url":["is elsewhere"]})");
  CHECK(std::get<Objections>(read(json::array())).dump() ==
        R"({"callback_url":["is not a text"]})");
  const json one = {{"source_code", "1"}, {"language_id", 71}, {"callback_url", "http://there/"}};
  auto batch = read_batch(json{{"submissions", {one}}}.dump(), {}, languages(), {}, {callbacks});
  CHECK(std::holds_alternative<Objections>(std::get<0>(batch).front()));
}

TEST_CASE("judge0: additional files lie beside the source", "[service][judge0]") {
  const auto encoded = [](const std::vector<images::Zipped>& files) {
    std::string text;
    runtime::append_base64(images::make_zip(files), text);
    return text;
  };
  const NewSubmission made = accepted(
      with("additional_files", encoded({{"data.txt", "from afar"}, {"./dir/a.py", "x = 1"}})));
  REQUIRE(made.job.files.size() == 2);
  CHECK(made.job.files[0].path == "data.txt");
  CHECK(made.job.files[0].content == "from afar");
  CHECK(made.job.files[1].path == "dir/a.py");
  CHECK(made.asked.additional_files);
  CHECK(refused(with("additional_files", encoded({{"../up", "x"}}))).find("additional_files") !=
        std::string::npos);
  SECTION("one of them may be larger than what the program writes") {
    const NewSubmission large =
        accepted(with("additional_files", encoded({{"big", std::string(3 << 20, 'x')}})));
    CHECK(large.job.limits.file.count == 3 << 20);
    CHECK(large.job.limits.out == sys::kibibytes(1024));
    CHECK(made.job.limits.file == sys::kibibytes(1024));
  }
  SECTION("there must be room for them") {
    size_t asked = 0;
    const json body = with("additional_files", encoded({{"a", "xyz"}}));
    const auto room = [&asked](size_t bytes) {
      asked += bytes;
      return false;
    };
    const auto read = read_create(body.dump(), Encoding::kPlain, languages(), {},
                                  {.callbacks = {}, .room = room});
    CHECK(std::holds_alternative<Objections>(std::get<ReadSubmission>(read)));
    CHECK(asked == 1);
  }
  SECTION("a name is UTF-8") {
    CHECK(refused(with("additional_files", encoded({{"a\xe9", "x"}}))).find("UTF-8") !=
          std::string::npos);
  }
  SECTION("the source comes before one of its name") {
    json body = with("additional_files", encoded({{"text.txt", "another"}}));
    body["language_id"] = 43;
    const NewSubmission text = accepted(body);
    REQUIRE(text.job.files.size() == 1);
    CHECK(text.job.files[0].content == body.at("source_code"));
  }
  SECTION("they are a program of several files") {
    const json project = {{"language_id", 89}, {"additional_files", encoded({{"run", "true"}})}};
    const NewSubmission program = accepted(project);
    CHECK(program.asked.is_project);
    CHECK(program.job.files.size() == 1);
    json none = project;
    none.erase("additional_files");
    CHECK(refused(none) == R"({"additional_files":["can't be blank"]})");
    json both = project;
    both["source_code"] = "true";
    CHECK(refused(both) == R"({"source_code":["must be blank"]})");
  }
}

TEST_CASE("judge0: whether a body may have files", "[service][judge0]") {
  CHECK(may_have_files(R"({"additional_files": ""})"));
  CHECK(may_have_files(R"({"additional\u005ffiles": ""})"));
  CHECK(may_have_files(R"({"\u0061dditional_files": ""})"));
  CHECK_FALSE(may_have_files(R"({"source_code": "a\n\"b\"", "language_id": 71})"));
}

}  // namespace service::judge0
