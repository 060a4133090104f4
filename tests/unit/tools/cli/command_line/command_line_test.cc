#include "tools/cli/command_line/command_line.h"

#include <catch2/catch.hpp>
#include <cstdlib>

#include "sandbox/sys/file.h"
#include "tools/cli/command_line/core/batch_options.h"
#include "tools/cli/engine_setup.h"

namespace cli {
namespace {

CommandLine parsed(std::vector<std::string> arguments) {
  auto wish = parse_command_line(std::move(arguments));
  REQUIRE(std::holds_alternative<CommandLine>(wish));
  return std::get<CommandLine>(wish);
}

int refused(std::vector<std::string> arguments) {
  auto wish = parse_command_line(std::move(arguments));
  REQUIRE(std::holds_alternative<int>(wish));
  return std::get<int>(wish);
}

const std::vector<runtime::TemplateSpec> kBuiltin{{"python", {}, ""},
                                                  {"python-numpy", {"numpy"}, ""}};

}  // namespace

TEST_CASE("run takes limits before or after the program", "[cli][options]") {
  CommandLine line =
      parsed({"run", "--cpu", "1s", "prog.py", "--memory", "256M", "--output", "100"});

  CHECK(line.command == Command::kRun);
  CHECK(line.run.program == "prog.py");
  CHECK(std::get<sys::Milliseconds>(line.run.limits.at("--cpu")) == sys::Milliseconds(1000));
  CHECK(std::get<sys::Bytes>(line.run.limits.at("--memory")) == sys::mebibytes(256));
  CHECK(std::get<sys::Bytes>(line.run.limits.at("--output")) == sys::Bytes{100});
}

TEST_CASE("what is behind -- belongs to the program", "[cli][options]") {
  CommandLine line = parsed({"run", "-", "--", "--wall", "batch", "-x"});

  CHECK(line.run.program == "-");
  CHECK(line.run.args == std::vector<std::string>{"--wall", "batch", "-x"});
  CHECK_FALSE(line.run.limits.contains("--wall"));
}

TEST_CASE("a kernel passes over options of IPython's, and no others", "[cli][options]") {
  const CommandLine line = parsed(
      {"kernel", "run", "-f", "c.json", "--HistoryManager.hist_file=:memory:", "--memory", "64M"});
  CHECK(line.kernel.connection_file == "c.json");
  CHECK(line.run.limits.contains("--memory"));
  for (const char* other : {"--memry=1", "--a.b=1", "--A.b", "--Ab=1", "c.py", "--"})
    CHECK(refused({"kernel", "run", "-f", "c.json", other, "x"}) == kExitUsage);
}

TEST_CASE("common options stand before or behind the command", "[cli][options]") {
  CHECK(parsed({"--json", "doctor"}).common.json);
  CHECK(parsed({"doctor", "--json"}).common.json);
  CHECK(parsed({"batch", "--require", "full,cgroup.memory"}).common.required_layers ==
        sandbox::Layers().with(sandbox::Layer::kCgroupMemory));
}

TEST_CASE("certify takes files, and its loads as a list", "[cli][options]") {
  const CommandLine line = parsed({"certify", "a.jsonl", "b.jsonl", "--loads", "2,32", "--faults"});

  CHECK(line.certify.corpora == std::vector<std::string>{"a.jsonl", "b.jsonl"});
  CHECK(line.certify.loads == std::vector<unsigned>{2, 32});
  CHECK(line.certify.faults);
  CHECK(parsed({"certify"}).certify.loads == std::vector<unsigned>{1, 4, 16, 64});
  for (const char* wrong : {"0", "1,,4", "1,x", "2000", "-1", ""})
    CHECK(refused({"certify", "--loads", wrong}) == kExitUsage);
}

TEST_CASE("certify takes a grader in the place of files and loads", "[cli][options]") {
  const CommandLine line = parsed({"certify", "--grader", "my grader", "--kinds", "class,stdin",
                                   "--only", "exit_zero,plain", "--timeout", "2s"});

  CHECK(line.certify.grader.command == "my grader");
  CHECK(line.certify.grader.kinds == std::vector{TaskKind::kClass, TaskKind::kStdin});
  CHECK(line.certify.grader.only == std::vector<std::string>{"exit_zero", "plain"});
  CHECK(line.certify.grader.timeout == sys::Milliseconds(2000));
  CHECK(parsed({"certify", "--list"}).certify.grader.list);
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"certify", "--kinds", "class"},
                                             {"certify", "--unconfined"},
                                             {"certify", "--grader", "x", "a.jsonl"},
                                             {"certify", "--grader", "x", "--loads", "1"},
                                             {"certify", "--grader", "x", "--faults"},
                                             {"certify", "--grader", "x", "--kinds", "novel"},
                                             {"certify", "--grader", "x", "--kinds", ""}}) {
    CHECK(refused(wrong) == kExitUsage);
  }
}

TEST_CASE("a command line that makes no sense is usage, exit 2", "[cli][options]") {
  auto arguments = GENERATE(
      values<std::vector<std::string>>({{},
                                        {"bogus"},
                                        {"run"},
                                        {"template"},
                                        {"run", "--memory", "lots", "p.py"},
                                        {"run", "--wall", "0", "p.py"},
                                        {"run", "--call", "f", "p.py"},
                                        {"run", "p.py", "--unknown"},
                                        {"run", "--level", "high", "p.py"},
                                        {"batch", "--resume"},
                                        {"batch", "--workers", "0"},
                                        {"run", "--preload", "a,,b", "p.py"},
                                        {"run", "--config", "/nonexistent.json", "p.py"}}));

  CHECK(refused(arguments) == kExitUsage);
}

TEST_CASE("what is mistyped is told what is near it", "[cli][options]") {
  const auto [arguments, hint] = GENERATE(table<std::vector<std::string>, std::string>(
      {{{"rnu", "p.py"}, "did you mean run?"},
       {{"run", "--memroy", "5M", "p.py"}, "did you mean --memory?"},
       {{"run", "--jsn", "p.py"}, "did you mean --json?"},  // an option of every command
       {{"image", "lsit"}, "did you mean list?"},
       {{"run", "p.py", "--verbosely"}, "a program's own options go behind --"}}));

  std::string trouble;
  REQUIRE(std::holds_alternative<int>(cli::parse_command_line(arguments, &trouble)));
  CHECK(trouble.find(hint) != std::string::npos);
}

TEST_CASE("only what runs a program has options of a program's own", "[cli][options]") {
  std::string trouble;
  const auto line = cli::parse_command_line({"kernel", "run", "--verbosely"}, &trouble);
  REQUIRE(std::holds_alternative<int>(line));
  CHECK(trouble.find("--verbosely") != std::string::npos);
  CHECK(trouble.find("behind --") == std::string::npos);
}

TEST_CASE("taking layers out needs the word of the tests", "[cli][options]") {
  ::unsetenv("ZYGO_TESTING");
  CHECK(refused({"run", "--without", "seccomp", "p.py"}) == kExitUsage);

  ::setenv("ZYGO_TESTING", "1", 1);
  CHECK(
      parsed({"run", "--without", "seccomp", "p.py"}).common.without.has(sandbox::Layer::kSeccomp));
  ::unsetenv("ZYGO_TESTING");
}

TEST_CASE("a config file fills in what the command line leaves out", "[cli][options]") {
  std::string text =
      R"({"memory": "256M", "wall": 2, "quiet": true, "preload": ["a", "b"], "workers": 3})";
  sys::OwnedFd file = sys::sealed_memfd("config", text).value();
  std::string path = "/proc/self/fd/" + std::to_string(file.get());

  CommandLine line = parsed({"run", "--config", path, "--memory", "1G", "p.py"});

  CHECK(std::get<sys::Bytes>(line.run.limits.at("--memory")) == sys::mebibytes(1024));
  CHECK(std::get<sys::Milliseconds>(line.run.limits.at("--wall")) == sys::Milliseconds(2000));
  CHECK(line.common.quiet);
  CHECK(line.common.preload == std::vector<std::string>{"a", "b"});
}

TEST_CASE("a config file with a key that no command has is refused", "[cli][options]") {
  sys::OwnedFd file = sys::sealed_memfd("config", R"({"memry": 1})").value();

  CHECK(refused({"run", "--config", "/proc/self/fd/" + std::to_string(file.get()), "p.py"}) == 2);
}

TEST_CASE("a forced level reaches the engine, unless it is less than what is required",
          "[cli][setup]") {
  auto level = GENERATE(sandbox::Level::kContained, sandbox::Level::kMinimal);
  CommonOptions common;
  common.level = level;
  CHECK_FALSE(check_level(common).has_value());
  CHECK(std::get<runtime::EngineOptions>(engine_options(common, kBuiltin, 0)).level == level);

  common.required_level = sandbox::Level::kFull;
  auto refusal = check_level(common);

  REQUIRE(refusal.has_value());
  CHECK(refusal->code == kExitUsage);
  CHECK(refusal->sentence.find("is less than --require full") != std::string::npos);
}

TEST_CASE("the option --preload defines a template, named custom unless --template says otherwise",
          "[cli][setup]") {
  CommonOptions common;
  common.preload = {"json"};
  auto options = std::get<runtime::EngineOptions>(engine_options(common, kBuiltin, 0));
  CHECK(options.templates.at(0).name == "custom");
  CHECK(chosen_template(common) == "custom");

  common.template_name = "mine";
  options = std::get<runtime::EngineOptions>(engine_options(common, kBuiltin, 0));
  CHECK(options.templates.at(0).name == "mine");

  common.template_name = "python";
  CHECK(std::get<Refusal>(engine_options(common, kBuiltin, 0)).code == kExitUsage);
}

TEST_CASE("an unknown template is named, with those there are and how to define one",
          "[cli][setup]") {
  CommonOptions common;
  common.template_name = "pyhton";

  Refusal refusal = std::get<Refusal>(engine_options(common, kBuiltin, 0));

  CHECK(refusal.sentence ==
        "template \"pyhton\" is unknown; there are python, python-numpy. Define it with "
        "--template pyhton --preload MODULE,...");
}

TEST_CASE("the option --setup defines a template that runs the file, with or without --preload",
          "[cli][setup]") {
  const std::string file = "/proc/self/cmdline";  // any that can be read
  CommonOptions common;
  common.setup = file;
  auto options = std::get<runtime::EngineOptions>(engine_options(common, kBuiltin, 0));
  CHECK(options.templates.at(0).name == "custom");
  CHECK(options.templates.at(0).setup == file);
  CHECK(options.templates.at(0).setup_digest.size() == 64);

  common.setup = "/nonexistent/setup.py";
  const Refusal refusal = std::get<Refusal>(engine_options(common, kBuiltin, 0));
  CHECK(refusal.code == kExitUsage);
  CHECK(refusal.sentence.find("--setup: ") == 0);
}

TEST_CASE("a program with one command reads it as zygo does, and says where the others are",
          "[cli][options]") {
  const Program program{
      .commands = {&kBatchSyntax, 1}, .footer = kBatchExamples, .others = "others are elsewhere"};

  const auto wish = parse_command_line(program, {"batch", "--workers", "3", "jobs.ndjson"});
  std::string trouble;
  const auto refused = parse_command_line(program, {"serve"}, &trouble);

  REQUIRE(std::holds_alternative<CommandLine>(wish));
  CHECK(std::get<CommandLine>(wish).command == Command::kBatch);
  CHECK(std::get<CommandLine>(wish).batch.workers == 3);
  CHECK(std::get<int>(refused) == kExitUsage);
  CHECK(trouble == "unknown command or option \"serve\"; others are elsewhere");
}

TEST_CASE("isolate behind an option is refused, since its words are not zygo's", "[cli][options]") {
  std::string trouble;

  const auto wish = parse_command_line({"--json", "isolate"}, &trouble);

  CHECK(std::get<int>(wish) == kExitUsage);
  CHECK(trouble == "isolate has to be the first word");
}

}  // namespace cli
