// Tests that nothing that is said to `zygo pilot --print` or `zygo scale` for pilots is lost. They
// go over the table of the options, so a new one is tried as soon as it is there.
#include "tools/cli/command_line/carried_options.h"

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "tools/cli/cluster/print.h"
#include "tools/cli/command_line/command_line.h"
#include "tools/cli/command_line/core/common_options.h"
#include "tools/cli/command_line/core/grammar.h"
#include "tools/cli/command_line/serve_options.h"

namespace cli {
namespace {

using Words = std::vector<std::string>;
constexpr const char* kEngines[] = {"slurm", "htcondor", "kubernetes", "ssh"};

std::optional<CommandLine> read(const Words& words) {
  std::string trouble;
  auto line = parse_command_line(words, &trouble);
  if (auto* whole = std::get_if<CommandLine>(&line)) return std::move(*whole);
  return std::nullopt;
}

// Without `left_out`, which may be given only once.
Words printing(const std::string& engine, const std::string& left_out = "") {
  Words words = {"pilot", "--print", engine, "--join", "http://router:8000"};
  if (left_out != "--token-file") words.insert(words.end(), {"--token-file", "token"});
  if (engine == "ssh") words.insert(words.end(), {"--host", "n1"});
  return words;
}

sys::Result<std::string> printed(const Words& words) {
  const auto line = read(words);
  REQUIRE(line);
  return printed_text(line->pilot);
}

// The words that say this option, with the first of some values that it takes.
Words said(const CLI::Option& option) {
  const std::string name = name_of(option);
  if (!takes_value(option)) return {name};
  for (const char* value :
       {"7s", "7", "64M", "full", "text", "0600", "fork", "plain", "exec", "landlock"}) {
    Words words = printing("slurm", name);
    words.insert(words.end(), {name, value});
    if (read(words)) return {name, value};
  }
  FAIL("no value here is one of " << name << ": add one to this test");
  return {};
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void check_option(const CLI::Option& option, const std::string& engine) {
  const std::string name = name_of(option);
  Words words = printing(engine, name);
  for (const std::string& word : said(option)) words.push_back(word);
  const auto with = printed(words);
  INFO(engine << " " << name);
  if (!with) {
    CHECK(has(with.error().text(), name));
    return;
  }
  const auto without = printed(printing(engine));
  REQUIRE(without);
  CHECK(*with != *without);
  if (option.get_group() != kPrintGroup) CHECK(has(*with, name));
}

}  // namespace

TEST_CASE("every option of a pilot is printed for every engine, or refused by its name",
          "[cluster][print]") {
  ::setenv("ZYGO_TESTING", "1", 1);  // allows --without
  CLI::App app;
  CommandLine line;
  add_pilot(app, line);
  add_common(app, line.common);
  size_t tried = 0;
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = name_of(*option);
    if (name == "--help" || name == "--print" || name == "--config") continue;
    for (const char* engine : kEngines) check_option(*option, engine);
    ++tried;
  }
  ::unsetenv("ZYGO_TESTING");
  CHECK(tried > 30);
}

TEST_CASE("words that are carried are read as what was said", "[cluster][print]") {
  Words words = {"--require",  "contained,landlock",
                 "pilot",      "--print",
                 "slurm",      "--join",
                 "http://r:1", "--workers",
                 "3",          "--share-builds",
                 "--preload",  "numpy,pandas",
                 "--name",     "-a b'c\"",
                 "--packages", "/a",
                 "--packages", "/b",
                 "--tokens",   "/etc/tokens",
                 "--grace",    "7s",
                 "--listen",   "unix:/s"};
  const auto line = read(words);
  REQUIRE(line);
  CHECK(line->pilot.carried.files ==
        std::vector<std::pair<std::string, std::string>>{{"--tokens", "/etc/tokens"}});
  CHECK(line->pilot.carried_grace == sys::Milliseconds(7000));

  Words of_pilot = {"pilot", "--join", "http://r:1"};
  const Words& carried = line->pilot.carried.words;
  of_pilot.insert(of_pilot.end(), carried.begin(), carried.end());
  const auto pilot = read(of_pilot);
  REQUIRE(pilot);
  CHECK(pilot->common.required_level == sandbox::Level::kContained);
  CHECK(pilot->common.required_layers == line->common.required_layers);
  CHECK(pilot->serve.workers == 3);
  CHECK(pilot->serve.share_builds);
  CHECK(pilot->common.preload == Words{"numpy", "pandas"});
  CHECK(pilot->common.packages == Words{"/a", "/b"});
  CHECK(pilot->pilot.name == "-a b'c\"");
  CHECK(pilot->serve.listen == Words{"unix:/s"});
  CHECK(pilot->pilot.print.empty());
}

TEST_CASE("a file of options is printed as what it says, and the environment is not",
          "[cluster][print]") {
  const std::string path = std::filesystem::temp_directory_path() / "zygo-carried-options.json";
  std::ofstream(path) << R"({"require": "contained", "workers": 5, "share-builds": false})";
  ::setenv("ZYGO_LISTEN", "0.0.0.0:8000", 1);
  ::setenv("ZYGO_GRACE", "8s", 1);
  Words words = printing("slurm");
  words.insert(words.end(), {"--config", path});
  const auto text = printed(words);
  ::unsetenv("ZYGO_LISTEN");
  ::unsetenv("ZYGO_GRACE");
  std::filesystem::remove(path);
  REQUIRE(text);
  CHECK(has(*text, " --require contained"));
  CHECK(has(*text, " --workers 5"));
  CHECK(has(*text, " --share-builds=false"));
  CHECK(has(*text, " --grace 45s"));
  CHECK_FALSE(has(*text, "--listen"));
  CHECK_FALSE(has(*text, path));
}

TEST_CASE("files of a pilot go where its token goes", "[cluster][print]") {
  const auto text = [](const char* engine) {
    Words words = printing(engine);
    words.insert(words.end(), {"--tokens", "/a/clients", "--setup", "/b/setup.py"});
    return printed(words).value();
  };
  CHECK(has(text("slurm"), " --tokens /a/clients "));
  CHECK(has(text("ssh"), " --setup /b/setup.py "));
  CHECK(has(text("htcondor"), "transfer_input_files = token, /a/clients, /b/setup.py\n"));
  CHECK(has(text("htcondor"), " --tokens clients --setup setup.py "));
  CHECK(has(text("kubernetes"), " --from-file=/a/clients --from-file=/b/setup.py\n"));
  CHECK(has(text("kubernetes"), "\"/etc/zygo/clients\""));
}

TEST_CASE("a pilot has no longer grace than its engine leaves it", "[cluster][print]") {
  Words words = printing("slurm");
  words.insert(words.end(), {"--drain-before", "20s", "--grace", "21s"});
  const auto text = printed(words);
  REQUIRE_FALSE(text);
  CHECK(has(text.error().text(), "--grace"));
  words.back() = "20s";
  CHECK(printed(words));
}

TEST_CASE("zygo scale gives pilots the options that all commands have", "[cluster][scale]") {
  const auto line = read({"scale", "--engine", "slurm", "--url", "http://r:1", "--max", "2",
                          "--require", "contained", "--json", "--name", "mine"});
  REQUIRE(line);
  CHECK(line->pilot.carried.words == Words{"--require", "contained"});
}

}  // namespace cli
