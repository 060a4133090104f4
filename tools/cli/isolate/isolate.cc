#include "tools/cli/isolate/isolate.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "tools/cli/command_line/help_text.h"
#include "tools/cli/isolate/box.h"
#include "tools/cli/isolate/isolate_job.h"
#include "tools/cli/isolate/output_pump.h"
#include "tools/cli/isolate/report.h"
#include "tools/cli/run/one_job.h"
#include "tools/cli/run/verdict_text.h"
#include "tools/cli/text.h"

namespace cli {
namespace {

using runtime::JobResult;
using sys::Error;
using sys::Result;

constexpr int kTrouble = 2;

int refuse_isolate(const std::string& sentence) {
  write_error_line("isolate: " + escape_controls(sentence, Lines::kKeep));
  return kTrouble;
}

// Opened before anything runs, as isolate's clients expect: an old one is never taken for new.
Result<sys::OwnedFd> open_meta(const std::string& path) {
  if (path.empty()) return sys::OwnedFd();
  if (path == "-") return sys::duplicate(STDOUT_FILENO);
  return sys::open(path, O_WRONLY | O_CREAT | O_TRUNC);
}

void write_meta(const sys::OwnedFd& meta, const std::string& text) {
  if (!meta) return;
  if (auto written = sys::write_all(meta.get(), text); !written)
    write_error_line("isolate: meta file: " + written.error().text());
}

Result<JobResult> run_in_cell(IsolateJob& made, const Layout& layout, const Parts& parts) {
  runtime::EngineOptions engine_options;
  engine_options.templates = {isolate_template()};
  engine_options.mounts = layout.mounts;
  engine_options.workers = 1;
  auto engine = TRY(parts.start_engine(std::move(engine_options)));
  std::optional<OutputPump> pump;
  if (made.out.kind != Stream::Kind::kFile) {
    const bool shown = made.out.kind == Stream::Kind::kOurs;
    sys::OwnedFd target =
        TRY(shown ? sys::duplicate(STDOUT_FILENO) : sys::open("/dev/null", O_WRONLY));
    pump.emplace(TRY(OutputPump::to(std::move(target))));
    made.job.execution->stdout_fd = pump->writer();
  }
  JobResult result = run_one(*engine, std::move(made.job), parts.stop);
  engine.reset();  // nobody but us has the pipe any more
  if (pump) pump->finish();
  return result;
}

// Puts what the program left into place on the host's side.
Result<void> settle(const IsolateJob& made, const JobResult& result) {
  for (const IsolateJob::Source& source : made.sources)
    TRY(bring_back(*source.folder, source.taken, result.files.files));
  const std::pair<const Stream*, const runtime::Output*> streams[] = {{&made.out, &result.out},
                                                                      {&made.err, &result.err}};
  for (const auto& [stream, output] : streams) {
    if (stream->kind != Stream::Kind::kFile) continue;
    const HostFolder& folder = *stream->place.folder;
    sys::OwnedFd file = TRY(open_beneath(folder.outside, stream->place.rest,
                                         O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK));
    TRY(sys::write_all(file.get(), output->bytes));
  }
  return {};
}

// Names what a person would otherwise look for in vain.
void tell_what_is_missing(const IsolateJob& made, const JobResult& result) {
  for (const IsolateJob::Source& source : made.sources) {
    for (const std::string& what : source.passed_over)
      write_error_line(fmt::format("isolate: {}/{}; the program does not see it",
                                   source.folder->outside, escape_controls(what, Lines::kEscape)));
  }
  for (const runtime::OutputFiles::Refused& file : result.files.refused)
    write_error_line(fmt::format("isolate: {} is not kept: {}",
                                 escape_controls(file.path, Lines::kEscape), file.why));
}

IsolateEnd report_run(const IsolateOptions& options, const IsolateJob& made,
                      const JobResult& result, const sys::OwnedFd& meta) {
  if (made.err.kind == Stream::Kind::kOurs)
    static_cast<void>(write_output(STDERR_FILENO, result.err.bytes));
  IsolateEnd end = end_of(result, options);
  if (auto settled = settle(made, result); !settled) end = trouble(settled.error().text());
  write_meta(meta, meta_text(end, result, options, made.placed));
  const bool open_line = !result.err.bytes.empty() && result.err.bytes.back() != '\n';
  if (!options.silent || end.exit_code == kTrouble) {
    const std::string line = escape_controls(status_line(end, result), Lines::kKeep);
    write_error_line((open_line && made.err.kind == Stream::Kind::kOurs ? "\n" : "") + line);
  }
  if (!options.silent) tell_what_is_missing(made, result);
  if (options.verbose > 0)
    write_error_line("zygo: " + verdict_line(result, style_for(STDERR_FILENO, false)));
  return end;
}

Result<IsolateEnd> run(const IsolateOptions& options, const Box& box, const Parts& parts,
                       const sys::OwnedFd& meta) {
  if (!box.exists())
    return Error::because(fmt::format("box {} is not there: --init makes it", options.box));
  auto layout = lay_out(options.directories, box.directory());
  if (const auto* refusal = std::get_if<IsolateRefusal>(&layout))
    return Error::because(refusal->sentence);
  const Layout& made_of = std::get<Layout>(layout);
  IsolateJob made = TRY(make_isolate_job(options, made_of, box.quota()));
  const JobResult result = TRY(run_in_cell(made, made_of, parts));
  return report_run(options, made, result, meta);
}

int run_command(const IsolateOptions& options, const Box& box, const Parts& parts) {
  auto meta = open_meta(options.meta);
  if (!meta) return refuse_isolate("meta file " + meta.error().text());
  auto end = run(options, box, parts, *meta);
  if (end) return end->exit_code;
  write_meta(*meta, meta_text(trouble(end.error().text())));
  return refuse_isolate(end.error().text());
}

int perform(const IsolateOptions& options, const Parts& parts) {
  auto root = Box::default_root();
  if (!root) return refuse_isolate(root.error().text());
  auto box = Box::lock(*root, options.box, options.wait);
  if (!box) return refuse_isolate(box.error().text());
  if (options.mode == IsolateOptions::Mode::kRun) return run_command(options, *box, parts);
  const bool makes = options.mode == IsolateOptions::Mode::kInit;
  auto done = makes ? box->make(options.quota) : box->remove();
  if (!done) return refuse_isolate(done.error().text());
  if (makes && !sys::write_all(STDOUT_FILENO, box->path() + "\n").ok())
    return refuse_isolate("write stdout");
  return 0;
}

}  // namespace

std::optional<std::vector<std::string>> isolate_arguments(int argc, char** argv) {
  const std::string name = argc > 0 ? argv[0] : "";
  if (name.substr(name.rfind('/') + 1) == "isolate")
    return std::vector<std::string>(argv + 1, argv + argc);
  if (argc > 1 && std::string(argv[1]) == "isolate")
    return std::vector<std::string>(argv + 2, argv + argc);
  return std::nullopt;
}

int isolate_command(const std::vector<std::string>& arguments, const Parts& parts) {
  ::umask(022);
  auto parsed = parse_isolate_options(arguments);
  if (const auto* refusal = std::get_if<IsolateRefusal>(&parsed))
    return refuse_isolate(refusal->sentence + " (zygo isolate --help)");
  const auto& options = std::get<IsolateOptions>(parsed);
  switch (options.mode) {
    case IsolateOptions::Mode::kVersion:
      std::printf("isolate, spoken by zygo %s\n", ZYGO_VERSION);
      return 0;
    case IsolateOptions::Mode::kHelp:
      std::fputs(kIsolateHelp, stdout);
      std::fputs(kIsolateExamples, stdout);
      return 0;
    case IsolateOptions::Mode::kCheckConfig:
      return 0;
    case IsolateOptions::Mode::kInit:
    case IsolateOptions::Mode::kRun:
    case IsolateOptions::Mode::kCleanup:
      break;
  }
  return perform(options, parts);
}

}  // namespace cli
