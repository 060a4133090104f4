#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "runtime/json/runtime_json.h"

namespace runtime {
namespace {

constexpr const char* kSmallest =
    R"({"name": "x", "title": "X", "file": "main.x", "run": ["x", "main.x"]})";

std::string complaint(const std::string& json) {
  auto specs = parse_runtimes(json, "x.json");
  return specs ? "" : specs.error().text();
}

std::string with(const std::string& fields) {
  return R"({"name": "x", "title": "X", "file": "main.x", )" + fields + "}";
}

TEST_CASE("the smallest runtime is executed under the default profile", "[runtime]") {
  const std::vector<RuntimeSpec> specs = parse_runtimes(kSmallest, "x.json").value();
  REQUIRE(specs.size() == 1);
  const RuntimeSpec& spec = specs.front();

  CHECK_FALSE(spec.compiled());
  CHECK_FALSE(spec.runs_artefact());
  CHECK(spec.profile == sandbox::Profile::kDefault);
  CHECK(spec.goes_by("x"));
  CHECK_FALSE(spec.goes_by("y"));
  CHECK(spec.digest.size() == 64);
}

TEST_CASE("what is wrong with a runtime is named, with its file", "[runtime]") {
  CHECK(complaint("[]") == "x.json: not a JSON object");
  CHECK(complaint("{") == "x.json: not a JSON object");
  CHECK(complaint("{}") == "x.json: name: required");
  CHECK(complaint(with(R"("run": [])")) == "x.json: run: expected a list that is not empty");
  CHECK(complaint(with(R"("run": ["x", 1])")) == "x.json: run: expected a list of strings");
  CHECK(complaint(with(R"("run": ["x"], "runs": 1)")) == "x.json: unknown field runs");
  CHECK(complaint(with(R"("run": ["x"], "profile": "all")")) ==
        "x.json: profile: expected pure, default, subprocess or build");
  CHECK(complaint(with(R"("run": ["x"], "compile": ["c"])")) ==
        "x.json: artefacts: required where something is compiled");
  CHECK(complaint(with(R"("run": ["./b"], "compile": ["c"], "artefacts": ["a"])")) ==
        "x.json: run: ./b is no artefact");
  CHECK(complaint(with(R"("run": ["x"], "env": {"A=B": "c"})")) ==
        "x.json: env: expected an object of strings");
  CHECK(complaint(with(R"("run": ["x"], "compile_limits": {"wall_ms": 0})")) ==
        "x.json: compile_limits: wall_ms: expected a positive integer");
  CHECK(complaint(with(R"("run": ["x", "main.x"], "start": "hot")")) ==
        "x.json: start: expected warm or exec");
  CHECK(complaint(with(R"("run": ["x"], "start": "warm")")) ==
        "x.json: start: warm is for an interpreter that is called with main.x");
  CHECK(complaint(with(R"("run": ["x"], "jit": 1)")) == "x.json: jit: expected true or false");
  CHECK(complaint(with(R"("run": ["x"], "forgiven": {"socket": 0})")) ==
        "x.json: forgiven: expected an object of numbers from 1 to 100");
}

TEST_CASE("a variant is its runtime with other commands, and goes by its own name alone",
          "[runtime]") {
  const std::string json = with(
      R"("aliases": ["ex"], "extensions": ["x"], "env": {"A": "b"}, "run": ["x", "main.x"],
         "variants": {"x-strict": {"title": "X, strict", "run": ["x", "-s", "main.x"]}})");
  const std::vector<RuntimeSpec> specs = parse_runtimes(json, "x.json").value();

  REQUIRE(specs.size() == 2);
  CHECK(specs[0].variant_of.empty());
  CHECK(specs[0].run == std::vector<std::string>{"x", "main.x"});
  const RuntimeSpec& strict = specs[1];
  CHECK(strict.name == "x-strict");
  CHECK(strict.title == "X, strict");
  CHECK(strict.variant_of == "x");
  CHECK(strict.run == std::vector<std::string>{"x", "-s", "main.x"});
  CHECK(strict.env == specs[0].env);
  CHECK(strict.aliases.empty());
  CHECK(strict.extensions.empty());
  CHECK(strict.digest != specs[0].digest);
}

TEST_CASE("what is wrong with a variant is named, with its name", "[runtime]") {
  const auto variant = [](const std::string& json) {
    return complaint(with(R"("run": ["x"], "variants": )" + json));
  };
  CHECK(variant("[]") == "x.json: variants: expected an object");
  CHECK(variant(R"({"a/b": {}})") == "x.json: variants: expected names");
  CHECK(variant(R"({"y": []})") == "x.json: variants: y: expected an object");
  CHECK(variant(R"({"y": {"name": "z"}})") == "x.json: variants: y: unknown field name");
  CHECK(variant(R"({"y": {"variants": {}}})") == "x.json: variants: y: unknown field variants");
  CHECK(variant(R"({"y": {"runs": 1}})") == "x.json: variants: y: unknown field runs");
  CHECK(variant(R"({"y": {"run": []}})") ==
        "x.json: variants: y: run: expected a list that is not empty");
}

TEST_CASE("a memory limit is filled in, in megabytes", "[runtime]") {
  Limits limits;
  limits.memory = sys::mebibytes(300);
  CHECK(fill_in({"java", "-Xmx{memory_mb}m", "x"}, limits, {}) ==
        std::vector<std::string>{"java", "-Xmx300m", "x"});
}

TEST_CASE("further sources are compiled where the runtime has a word for them", "[runtime]") {
  using Words = std::vector<std::string>;
  const Limits limits;
  RuntimeSpec spec;
  spec.compile = {"cc", "main.c", "{sources}", "-lm"};
  CHECK(spec.takes_sources());
  CHECK(compile_words(spec, limits, "main.x", {}) == Words{"cc", "main.c", "-lm"});
  CHECK(compile_words(spec, limits, "main.x", {"a.c", "b/c.c", "-o.c", "@a.c"}) ==
        Words{"cc", "main.c", "a.c", "b/c.c", "./-o.c", "./@a.c", "-lm"});

  spec.source_extensions = {"c", "i"};
  CHECK(compile_words(spec, limits, "main.x", {"a.c", "a.h", "b/c.i", "c"}) ==
        Words{"cc", "main.c", "a.c", "b/c.i", "-lm"});
  spec.source_extensions.clear();

  spec.compile = {"go", "main.go", "{sources_beside}"};
  CHECK(spec.takes_sources());
  CHECK(compile_words(spec, limits, "main.x", {"a.go", "b/c.go"}) ==
        Words{"go", "main.go", "a.go"});

  spec.compile = {"rustc", "main.rs"};
  CHECK_FALSE(spec.takes_sources());
  CHECK(compile_words(spec, limits, "main.x", {"a.rs"}) == Words{"rustc", "main.rs"});
}

TEST_CASE("the flags of a job stand where its runtime has them", "[runtime]") {
  using Words = std::vector<std::string>;
  RuntimeSpec spec;
  spec.compile = {"cc", "-O1", "main.c"};
  CHECK_FALSE(spec.takes_flags());

  spec.compile.push_back("{flags}");
  CHECK(spec.takes_flags());
  CHECK(compile_words(spec, {}, "main.c", {}) == Words{"cc", "-O1", "main.c"});
  // Words of the caller are no words of ours.
  CHECK(compile_words(spec, {}, "main.c", {"a.c"}, {"-O3", "{sources}", "{memory_mb}"}) ==
        Words{"cc", "-O1", "main.c", "-O3", "{sources}", "{memory_mb}"});
}

TEST_CASE("a program is found by a path of directories", "[runtime]") {
  CHECK(find_program("sh", "", "/nowhere:/bin") == "/bin/sh");
  CHECK(find_program("/bin/sh") == "/bin/sh");
  CHECK_FALSE(find_program("sh", "", "/nowhere"));
  CHECK_FALSE(find_program("no-such-program"));
  CHECK_FALSE(find_program("etc", "", "/"));  // a directory is no program
}

TEST_CASE("another compiler behind the same links has another stamp", "[runtime]") {
  char folder[] = "/tmp/zygo-tools-XXXXXX";
  REQUIRE(::mkdtemp(folder));
  const std::string bin = folder;
  const auto upgrade = [&bin](const std::string& content) {
    std::ofstream(bin + "/cc-12") << content;
    std::filesystem::permissions(bin + "/cc-12", std::filesystem::perms{0755});
  };
  upgrade("one");
  std::filesystem::create_symlink("cc-12", bin + "/cc-link");
  std::filesystem::create_symlink("cc-link", bin + "/cc");
  RuntimeSpec spec;
  spec.compile = {"cc"};
  spec.run = {"./main"};
  const std::string before = find_toolchain(spec, "", bin).stamp;

  CHECK(find_toolchain(spec, "", bin).stamp == before);
  upgrade("a newer one");

  CHECK(find_toolchain(spec, "", bin).stamp != before);
  CHECK(before.starts_with(bin + "/cc:3:"));
  std::filesystem::remove_all(folder);
}

TEST_CASE("every runtime of the source tree is well-formed, and no two share a name", "[runtime]") {
  auto specs = load_runtimes(ZYGO_SOURCE_DIR "/languages");

  REQUIRE(specs);
  CHECK(specs->size() >= 13);
}

TEST_CASE("two runtimes that go by one word are an error", "[runtime]") {
  char folder[] = "/tmp/zygo-runtimes-XXXXXX";
  REQUIRE(::mkdtemp(folder));
  std::ofstream(std::string(folder) + "/a.json") << kSmallest;
  std::ofstream(std::string(folder) + "/b.json")
      << R"({"name": "y", "title": "Y", "aliases": ["x"], "file": "f", "run": ["y"]})";

  auto specs = load_runtimes(folder);

  std::filesystem::remove_all(folder);
  REQUIRE_FALSE(specs);
  CHECK(specs.error().text().ends_with("b.json: x goes by \"x\", too"));
}

}  // namespace
}  // namespace runtime
