// Command lines and config files: words apart by newlines; a word `@` stands for the config file,
// which is what follows the first NUL. What zygo says about them is for a terminal. The launcher's
// own command line is made of the same words.

#include <cstdlib>
#include <iostream>
#include <sstream>
#include <variant>
#include <vector>

#include "runtime/values/utf8.h"
#include "shim/launch/options.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/scratch.h"
#include "tools/cli/command_line/command_line.h"
#include "tools/cli/engine_setup.h"

namespace {

using Words = std::vector<std::string>;

// --help writes to std::cout.
class QuietOutput {
 public:
  QuietOutput() : before_(std::cout.rdbuf(sink_.rdbuf())) {}
  QuietOutput(const QuietOutput&) = delete;
  QuietOutput& operator=(const QuietOutput&) = delete;
  ~QuietOutput() { std::cout.rdbuf(before_); }

 private:
  std::ostringstream sink_;
  std::streambuf* before_;
};

void check_said(const std::string& said) {
  VERIFY(runtime::is_utf8(said));
  for (char c : said) {
    VERIFY(static_cast<uint8_t>(c) >= 0x20 || c == '\n' || c == '\t');
    VERIFY(c != 0x7f);
  }
}

void check_wish(const cli::CommandLine& line) {
  VERIFY(!line.batch.resume || !line.batch.results.empty());
  VERIFY(line.run.determinism >= 1 && line.run.determinism <= 8);
  VERIFY(line.batch.workers <= 4096);
  VERIFY(line.run.func.empty() == line.run.inputs.empty());
  for (const auto& [option, amount] : line.run.limits) {
    if (const auto* count = std::get_if<uint32_t>(&amount)) VERIFY(*count >= 1 && *count <= 32768);
    if (const auto* time = std::get_if<sys::Milliseconds>(&amount)) VERIFY(time->count() > 0);
  }
  const std::vector<runtime::TemplateSpec> builtin = {{"python", {}, ""}};
  (void)cli::engine_options(line.common, builtin, line.batch.workers);
}

void launcher(const Words& words) {
  std::vector<char*> argv = {const_cast<char*>("zygo-launch")};
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const auto options = shim::parse_launch_options(static_cast<int>(words.size()) + 1, argv.data());
  if (options) VERIFY(!options->command.empty());
  if (!options) VERIFY(!options.error().text().empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const fuzz::MemoryFile config, caught;
  static const bool testing = ::setenv("ZYGO_TESTING", "1", 1) == 0;
  VERIFY(testing);
  fuzz::Input input(data, size);
  fuzz::Input words_of(data, input.up_to('\0').size());
  config.hold(input.rest());
  Words words;
  while (!words_of.empty()) {
    const std::string_view word = words_of.up_to('\n');
    words.push_back(word == "@" ? config.path() : std::string(word));
  }
  launcher(words);

  const QuietOutput quiet;
  std::variant<cli::CommandLine, int> parsed = 0;
  const std::string said =
      fuzz::stderr_of(caught, [&] { parsed = cli::parse_command_line(words); });
  check_said(said);
  if (const auto* line = std::get_if<cli::CommandLine>(&parsed)) {
    VERIFY(said.empty());
    check_wish(*line);
  } else {
    const int code = std::get<int>(parsed);
    VERIFY(code == 0 || (code == cli::kExitUsage && !said.empty()));
  }
  return 0;
}
