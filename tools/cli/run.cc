#include "tools/cli/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/api/result_json.h"
#include "runtime/value.h"
#include "sandbox/sys/file.h"
#include "tools/cli/observed_text.h"
#include "tools/cli/one_job.h"
#include "tools/cli/run_job.h"
#include "tools/cli/source_template.h"
#include "tools/cli/text.h"
#include "tools/cli/verdict_text.h"

namespace cli {
namespace {

// A reader of ours that is gone wants no more, and no complaint.
int after_write(bool written, int code) {
  if (written || errno == EPIPE) return code;
  return refuse("run", {fmt::format("write stdout: {}", std::strerror(errno)), kExitSandbox});
}

int show_json(const runtime::JobResult& result) {
  std::string text;
  runtime::append_result(result, text);
  return after_write(sys::write_all(STDOUT_FILENO, text + "\n").ok(), exit_code_of_json(result));
}

bool ends_open(std::string_view bytes) { return !bytes.empty() && bytes.back() != '\n'; }

// In call mode stdout is for the values, so that they can be piped on.
int show(const runtime::JobResult& result, bool call_mode, const CommonOptions& common) {
  int code = exit_code(result);
  std::string out = result.out.bytes, err = result.err.bytes;
  if (call_mode) {
    err = std::exchange(out, {}) + err;
    if (!result.value.empty()) {
      runtime::append_json(result.value, result.array, out);
      out += '\n';
    }
  }
  bool written = write_output(STDOUT_FILENO, out);
  code = after_write(written, code);
  static_cast<void>(write_output(STDERR_FILENO, err));
  if (common.quiet && result.verdict.ok() && result.observed.empty()) return code;

  bool open_line = ends_open(err) || (err.empty() && ends_open(out) && is_terminal(STDOUT_FILENO));
  Style style = style_for(STDERR_FILENO, common.no_color);
  write_error_line((open_line ? "\nzygo: " : "zygo: ") + verdict_line(result, style));
  if (!result.observed.empty()) write_error_line(observed_table(result, style));
  return code;
}

}  // namespace

int run_command(const CommandLine& line, const Parts& parts) {
  auto options = engine_options(line.common, parts.builtin_templates, 1, parts.stop);
  if (auto* refusal = std::get_if<Refusal>(&options)) return refuse("run", *refusal);
  CommonOptions common = line.common;
  if (line.run.is_command || line.run.program.empty()) {
    common.template_name = runtime::kCommandTemplate;
  }
  auto made = make_run_job(line.run, common);
  if (auto* refusal = std::get_if<Refusal>(&made)) return refuse("run", *refusal);
  if (chosen_template(common).empty()) {
    runtime::Job& job = std::get<RunJob>(made).job;
    auto chosen = template_of_source(line.run.program, job.source, parts.builtin_templates);
    if (auto* refusal = std::get_if<Refusal>(&chosen)) return refuse("run", *refusal);
    if (const auto& name = std::get<std::string>(chosen); !name.empty()) job.template_name = name;
  }
  auto engine = parts.start_engine(std::get<runtime::EngineOptions>(std::move(options)));
  if (!engine) return refuse("run", {engine.error().text(), kExitSandbox});

  RunJob& run = std::get<RunJob>(made);
  runtime::JobResult result = run_one(**engine, std::move(run.job), parts.stop);
  return line.common.json ? show_json(result) : show(result, !line.run.func.empty(), line.common);
}

}  // namespace cli
