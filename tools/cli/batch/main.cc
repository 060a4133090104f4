// zygo-batch: the command `batch` of zygo alone, for whom the rest takes too long to build. It
// reads the same command line, and does the same.

#include "runtime/engine/engine.h"
#include "tools/cli/batch/batch.h"
#include "tools/cli/command_line/core/batch_options.h"
#include "tools/cli/text.h"

namespace {

constexpr const char* kOthers = "this program has batch only; tools/build builds all of zygo";

}  // namespace

int main(int argc, char** argv) {
  auto stop = cli::StopSignals::install();
  if (!stop) {
    cli::write_error_line("zygo: " + stop.error().text());
    return cli::kExitSandbox;
  }
  const cli::Program program{
      .commands = {&cli::kBatchSyntax, 1}, .footer = cli::kBatchExamples, .others = kOthers};
  const auto wish = cli::parse_command_line(program, {argv + 1, argv + argc});
  if (const int* code = std::get_if<int>(&wish)) return *code;

  auto templates = runtime::shipped_templates();
  if (!templates) {
    cli::write_error_line("zygo: " + templates.error().text());
    return cli::kExitSandbox;
  }
  return cli::batch_command(std::get<cli::CommandLine>(wish),
                            {*std::move(templates), runtime::Engine::start, &*stop});
}
