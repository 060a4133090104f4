#include "tools/cli/batch/batch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "sandbox/sys/file.h"
#include "tools/cli/batch/batch_loop.h"
#include "tools/cli/batch/count_lines.h"
#include "tools/cli/batch/guests.h"
#include "tools/cli/project/defaults.h"
#include "tools/cli/text.h"

namespace cli {
namespace {

constexpr size_t kJobsPerWorker = 64;  // under way at once: enough to keep a shard busy

struct Files {
  sys::OwnedFd jobs, results;  // empty: stdin, stdout
  EarlierResults earlier;
  int in() const { return jobs ? jobs.get() : STDIN_FILENO; }
  int out() const { return results ? results.get() : STDOUT_FILENO; }
};

bool same_file(int a, int b) {
  struct stat of_a {
  }, of_b{};
  return ::fstat(a, &of_a) == 0 && ::fstat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
         of_a.st_ino == of_b.st_ino;
}

std::string why(const std::string& path, const sys::Error& error) {
  return fmt::format("{}: {}", path,
                     error.code() != 0 ? std::strerror(error.code()) : error.text());
}

std::optional<Refusal> open_jobs(const BatchOptions& options, Files& files) {
  if (options.jobs == "-") return std::nullopt;
  sys::Result<sys::OwnedFd> jobs = sys::open(options.jobs, O_RDONLY);
  if (!jobs) return Refusal{why(options.jobs, jobs.error())};
  struct stat about {};
  if (::fstat(jobs->get(), &about) == 0 && S_ISDIR(about.st_mode)) {
    return Refusal{why(options.jobs, sys::Error::from_errno("", EISDIR))};
  }
  files.jobs = std::move(jobs).value();
  return std::nullopt;
}

// Does not touch the content yet: what follows may still refuse.
std::optional<Refusal> open_results(const BatchOptions& options, Files& files) {
  if (options.results.empty() || options.results == "-") {
    if (!options.resume) return std::nullopt;
    return Refusal{"--resume needs a results file: -o FILE"};
  }
  sys::Result<sys::OwnedFd> results = sys::open(options.results, O_RDWR | O_CREAT | O_APPEND);
  if (!results) return Refusal{why(options.results, results.error())};
  files.results = std::move(results).value();
  if (same_file(files.in(), files.results.get())) {
    return Refusal{fmt::format("{}: jobs and results are the same file", options.results)};
  }
  struct stat about {};
  const bool has_results = ::fstat(files.results.get(), &about) == 0 && about.st_size > 0;
  if (!options.resume) {
    if (options.overwrite || !has_results) return std::nullopt;
    return Refusal{
        fmt::format("{}: has results already; --resume keeps them and runs the rest, "
                    "--overwrite replaces them",
                    options.results)};
  }
  sys::Result<EarlierResults> earlier = read_results(files.results.get());
  if (!earlier) {
    return Refusal{why(options.results, earlier.error()) + "; nothing was run or changed"};
  }
  files.earlier = std::move(earlier).value();
  return std::nullopt;
}

std::variant<runtime::JobDefaults, Refusal> read_defaults(
    const CommandLine& line, const std::vector<runtime::TemplateSpec>& known) {
  std::string text;
  if (!line.batch.defaults.empty()) {
    sys::Result<std::string> given = sys::read_file(line.batch.defaults);
    if (!given) return Refusal{why(line.batch.defaults, given.error())};
    text = *std::move(given);
  }
  sys::Result<runtime::JobDefaults> read = job_defaults(line.common.project, text);
  if (!read) return Refusal{fmt::format("{}: {}", line.batch.defaults, read.error().text())};
  runtime::JobDefaults defaults = std::move(read).value();
  if (line.batch.record) defaults.job.record = true;
  std::string name = chosen_template(line.common);
  if (!name.empty()) defaults.job.template_name = name;
  if (auto refusal = check_template(defaults.job.template_name, known)) return *refusal;
  return defaults;
}

// An empty -o means a fresh file; a pipe or a device has no length to cut.
sys::Result<void> prepare_results(const BatchOptions& options, const Files& files) {
  struct stat about {};
  bool regular =
      files.results && ::fstat(files.results.get(), &about) == 0 && S_ISREG(about.st_mode);
  if (!regular) return {};
  return mend_results(files.results.get(), options.resume ? files.earlier : EarlierResults{});
}

Progress make_progress(const CommonOptions& common, const Files& files) {
  bool results_shown = is_terminal(files.out());
  if (common.quiet || common.json || results_shown) {
    return Progress(Progress::Kind::kNone, STDERR_FILENO, std::nullopt);
  }
  auto kind = is_terminal(STDERR_FILENO) ? Progress::Kind::kBar : Progress::Kind::kLines;
  return Progress(kind, STDERR_FILENO, count_lines(files.in()));
}

void show_outcomes(const BatchLoop::Report& report, const CommonOptions& common) {
  if (common.json) {
    write_error_line(outcome_json(report.tally, report.seconds));
  } else if (!common.quiet) {
    Style style = style_for(STDERR_FILENO, common.no_color);
    write_error_line(outcome_table(report.tally, report.seconds, style));
  }
}

// A reader that closed our stdout has seen enough: we print no table and no complaint, and succeed.
int conclude(const BatchLoop::Report& report, const CommandLine& line) {
  std::string error = report.error ? report.error->text() : "";
  std::string results = line.batch.results.empty() ? "stdout" : line.batch.results;
  switch (report.why) {
    case BatchLoop::Why::kReaderGone:
      return kExitOk;
    case BatchLoop::Why::kCannotRead:
      return refuse("batch", {fmt::format("{}: {}", line.batch.jobs, error), kExitSandbox});
    case BatchLoop::Why::kCannotWrite:
      return refuse("batch", {fmt::format("{}: {}", results, error), kExitSandbox});
    case BatchLoop::Why::kInterrupted:
      show_outcomes(report, line.common);
      if (!line.common.quiet && !line.batch.results.empty()) {
        write_error_line("zygo batch: interrupted; the same command with --resume runs the rest");
      }
      return kExitInterrupted;
    case BatchLoop::Why::kDone:
      break;
  }
  show_outcomes(report, line.common);
  return report.tally.trouble() > 0 ? kExitSomeFailed : kExitOk;
}

// The batch of a client that shares our engine. `stop` ends it, too.
class SharedBatch {
 public:
  SharedBatch(runtime::Engine& engine, runtime::JobDefaults defaults, Outbox::Bounds bounds,
              int stop)
      : engine_(engine), defaults_(std::move(defaults)), bounds_(bounds), stop_(stop) {}

  // Greets with our pid, so that whoever sees no greeting knows that nobody will answer.
  void serve(int socket) {
    if (!sys::write_all(socket, fmt::format("{{\"pid\":{}}}\n", ::getpid()))) return;
    BatchLoop loop(engine_, JobLines(defaults_, {}, JobLines::Ids::kAny),
                   Progress(Progress::Kind::kNone, STDERR_FILENO, std::nullopt), bounds_);
    loop.run({.in = socket, .out = socket, .stop = stop_, .shared = true});
  }

 private:
  runtime::Engine& engine_;
  const runtime::JobDefaults defaults_;
  const Outbox::Bounds bounds_;
  const int stop_;
};

// Our own stream is over. While others are served, whoever started us is told so by the last line
// on stderr, and finds our descriptors closed.
void leave_to_guests(Guests& guests) {
  const size_t users = guests.present();
  if (users == 0) return;
  write_error_line(fmt::format("{{\"users\":{}}}", users));
  sys::Result<sys::OwnedFd> null = sys::open("/dev/null", O_RDWR);
  for (int fd = 0; null && fd <= STDERR_FILENO; ++fd) ::dup2(null->get(), fd);
  guests.see_out();
}

}  // namespace

int batch_command(const CommandLine& line, const Parts& parts) {
  if (line.batch.share >= 0 && ::fcntl(line.batch.share, F_SETFD, FD_CLOEXEC) < 0) {
    return refuse("batch", {"--share: there is no such descriptor"});  // and no program gets it
  }
  auto options =
      engine_options(line.common, parts.builtin_templates, line.batch.workers, parts.stop);
  if (auto* refusal = std::get_if<Refusal>(&options)) return refuse("batch", *refusal);
  auto known = known_templates(line.common, parts.builtin_templates);
  auto defaults = read_defaults(line, std::get<std::vector<runtime::TemplateSpec>>(known));
  if (auto* refusal = std::get_if<Refusal>(&defaults)) return refuse("batch", *refusal);
  Files files;
  if (auto refusal = open_jobs(line.batch, files)) return refuse("batch", *refusal);
  if (auto refusal = open_results(line.batch, files)) return refuse("batch", *refusal);

  auto engine = parts.start_engine(std::get<runtime::EngineOptions>(std::move(options)));
  if (!engine) return refuse("batch", {engine.error().text(), kExitSandbox});
  if (auto ready = prepare_results(line.batch, files); !ready) {
    return refuse("batch", {why(line.batch.results, ready.error()), kExitSandbox});
  }
  Outbox::Bounds bounds{.jobs = kJobsPerWorker * std::max(1u, (*engine)->workers())};
  int stop = parts.stop == nullptr ? -1 : parts.stop->fd();
  SharedBatch shared(**engine, std::get<runtime::JobDefaults>(defaults), bounds, stop);
  std::unique_ptr<Guests> guests;
  if (line.batch.share >= 0) {
    auto opened = Guests::open(line.batch.share, [&shared](int socket) { shared.serve(socket); });
    if (!opened) return refuse("batch", {"--share: " + opened.error().text(), kExitSandbox});
    guests = std::move(opened).value();
  }
  JobLines lines(std::get<runtime::JobDefaults>(std::move(defaults)), std::move(files.earlier),
                 line.batch.any_id ? JobLines::Ids::kAny : JobLines::Ids::kUnique);
  BatchLoop loop(**engine, std::move(lines), make_progress(line.common, files), bounds);
  const auto report = loop.run({.in = files.in(),
                                .out = files.out(),
                                .stop = stop,
                                .shared = guests != nullptr,
                                .guests = guests.get()});
  if (guests) leave_to_guests(*guests);
  return conclude(report, line);
}

}  // namespace cli
