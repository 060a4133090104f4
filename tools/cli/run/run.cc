#include "tools/cli/run/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "runtime/json/job/job_record.h"
#include "runtime/json/result/result_json.h"
#include "runtime/values/value.h"
#include "sandbox/sys/file.h"
#include "tools/cli/run/observed_text.h"
#include "tools/cli/run/one_job.h"
#include "tools/cli/run/run_job.h"
#include "tools/cli/run/source_template.h"
#include "tools/cli/run/verdict_text.h"
#include "tools/cli/text.h"

namespace cli {
namespace {

// A reader of ours that is gone wants no more, and no complaint.
int after_write(bool written, int code) {
  if (written || errno == EPIPE) return code;
  return refuse("run", {fmt::format("write stdout: {}", std::strerror(errno)), kExitSandbox});
}

int show_json(const runtime::JobResult& result) {
  if (result.verdict.outcome == runtime::Outcome::kBadJob)  // nobody looks for it in an object
    write_error_line("zygo: " + verdict_line(result, Style()));
  std::string text;
  runtime::append_result(result, text);
  return after_write(sys::write_all(STDOUT_FILENO, text + "\n").ok(), exit_code_of_json(result));
}

bool ends_open(std::string_view bytes) { return !bytes.empty() && bytes.back() != '\n'; }

// Tells the result when all of its output is there.
int conclude(const runtime::JobResult& result, bool open_line, int code,
             const CommonOptions& common) {
  if (common.quiet && result.verdict.ok() && result.observed.empty()) return code;
  Style style = style_for(STDERR_FILENO, common.no_color);
  write_error_line((open_line ? "\nzygo: " : "zygo: ") + verdict_line(result, style));
  if (!result.observed.empty()) write_error_line(observed_table(result, style));
  return code;
}

// In call mode stdout is for the values, so that they can be piped on.
int show_calls(const runtime::JobResult& result, const CommonOptions& common) {
  std::string out;
  const std::string err = result.out.bytes + result.err.bytes;
  if (!result.value.empty()) {
    runtime::append_json(result.value, result.array, out);
    out += '\n';
  }
  const bool written = write_output(STDOUT_FILENO, out);
  const int code = after_write(written, exit_code(result));
  static_cast<void>(write_output(STDERR_FILENO, err));
  return conclude(result, ends_open(err), code, common);
}

int show_rest(const runtime::JobResult& result, LiveOutput& output, const CommonOptions& common) {
  if (!output.has_reader()) return 128 + SIGPIPE;  // as of any program whose reader is gone
  const bool written = output.write_rest(result);
  const int code = after_write(written, exit_code(result));
  return conclude(result, output.ends_open(), code, common);
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
    runtime::Job& unnamed = std::get<RunJob>(made).job;
    auto chosen = template_of_source(line.run.program, unnamed.source, parts.builtin_templates);
    if (auto* refusal = std::get_if<Refusal>(&chosen)) return refuse("run", *refusal);
    if (const auto& name = std::get<std::string>(chosen); !name.empty())
      unnamed.template_name = name;
  }
  runtime::Job& job = std::get<RunJob>(made).job;
  if (auto kept = runtime::keep_record(job); !kept)
    return refuse("run", {kept.error().text(), kExitSandbox});
  auto engine = parts.start_engine(std::get<runtime::EngineOptions>(std::move(options)));
  if (!engine) return refuse("run", {engine.error().text(), kExitSandbox});

  // Some are seen as a whole: one object, the values of calls, what several runs agree in.
  LiveOutput output;
  const bool is_live =
      !line.common.json && line.run.func.empty() && job.determinism_runs == 1 && !job.observe;
  runtime::JobResult result = is_live ? run_live(**engine, std::move(job), parts.stop, output)
                                      : run_one(**engine, std::move(job), parts.stop);
  if (line.common.json) return show_json(result);
  if (!line.run.func.empty()) return show_calls(result, line.common);
  return show_rest(result, output, line.common);
}

}  // namespace cli
