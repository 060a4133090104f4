// `zygo run`: the files that its command line names. The program, a NUL, then the file of --inputs;
// the first byte holds switches.

#include <nlohmann/json.hpp>

#include "runtime/values/utf8.h"
#include "runtime/values/value.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/scratch.h"
#include "tools/cli/run/run_job.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const fuzz::MemoryFile program, inputs;
  fuzz::Input input(data, size);
  const uint8_t switches = input.byte();
  const std::string source(input.up_to('\0'));
  const std::string calls(input.rest());
  program.hold(source);
  inputs.hold(calls);

  cli::RunOptions options;
  options.program = program.path();
  options.array = (switches & 1) != 0;
  options.determinism = (switches & 2) != 0 ? 2 : 1;
  if ((switches & 4) != 0) {
    options.func = (switches & 8) != 0 ? source : "solve";
    options.inputs = inputs.path();
  }
  if (options.inputs.empty() || options.func.empty()) {
    options.func.clear();
    options.stdin_file = inputs.path();
  }
  const auto made = cli::make_run_job(options, {});

  const auto* run = std::get_if<cli::RunJob>(&made);
  if (!run) {
    VERIFY(!std::get<cli::Refusal>(made).sentence.empty());
    return 0;
  }
  VERIFY(run->job.source == source && runtime::is_utf8(source));
  const std::string request = runtime::encode_request(run->job);
  VERIFY(runtime::check(request));
  VERIFY(options.func.empty() || nlohmann::json::accept(calls));
  return 0;
}
