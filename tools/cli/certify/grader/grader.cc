#include "tools/cli/certify/grader/grader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "runtime/host/proc.h"
#include "tools/cli/batch/progress.h"
#include "tools/cli/certify/grader/crew.h"
#include "tools/cli/certify/grader/score.h"

namespace cli {
namespace {

using sys::Result;

// A directory of ours for the folders of the cases.
class Camp {
 public:
  static Result<Camp> make() {
    std::error_code problem;
    const auto temporary =
        std::filesystem::canonical(std::filesystem::temp_directory_path(problem), problem);
    std::string path = (problem ? "/tmp" : temporary.string()) + "/zygo-certify-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) return sys::Error::from_errno("make " + path);
    return Camp(std::move(path));
  }
  Camp(Camp&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  Camp& operator=(Camp&&) = delete;
  ~Camp() {
    std::error_code problem;
    if (!path_.empty()) std::filesystem::remove_all(path_, problem);
  }
  const std::string& path() const { return path_; }

 private:
  explicit Camp(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Where graders and what they use write: of those, the ones that can be layered here.
std::vector<std::string> layered_directories(const std::string& folder) {
  const char* home = std::getenv("HOME");
  std::vector<std::string> chosen;
  for (const std::string each : {"/tmp", "/var", "/run", "/dev/shm", home == nullptr ? "" : home}) {
    std::error_code problem;
    const std::string real = std::filesystem::canonical(each, problem).string();
    const bool covered = std::ranges::any_of(
        chosen, [&real](const std::string& one) { return (real + "/").starts_with(one + "/"); });
    if (problem || real == "/" || covered) continue;
    if (sandbox::try_enclosure(folder, {real})) chosen.push_back(real);
  }
  return chosen;
}

std::variant<GraderFence, Refusal> choose_fence(const GraderOptions& options,
                                                const std::string& folder) {
  if (options.unconfined) return GraderFence{sandbox::Fence::kProcesses, {}};
  const Result<void> tried = sandbox::try_enclosure(folder, {});
  if (tried) return GraderFence{sandbox::Fence::kNamespaces, layered_directories(folder)};
  return Refusal{fmt::format("the grader cannot be enclosed here ({}); --unconfined runs it, and "
                             "the hostile programs in it, as an ordinary process",
                             tried.error().text()),
                 kExitSandbox};
}

// A run of all the cases.
class Audit {
 public:
  Audit(const CommandLine& line, Crew& crew, const GraderFence& fence)
      : line_(line), crew_(crew), made_(empty_certificate(grader_corpus())) {
    const GraderOptions& options = line.certify.grader;
    const bool fenced = fence.kind == sandbox::Fence::kNamespaces;
    made_.command = options.command;
    made_.seed = line.certify.seed;
    made_.fence = fenced ? "namespaces" : "processes";
    made_.limits = crew.limits();
    for (const ProgramTemplate& each : grader_corpus().exploits) {
      if (!fenced && each.needs_fence) made_.left_out.push_back(each.name);
    }
    cases_ = draw_cases(grader_corpus(), {.kinds = options.kinds,
                                          .only = options.only,
                                          .count = line.certify.jobs,
                                          .seed = line.certify.seed,
                                          .fenced = fenced});
  }

  int run(int stop) {
    announce();
    auto kind = is_terminal(STDERR_FILENO) ? Progress::Kind::kBar : Progress::Kind::kLines;
    if (line_.common.quiet) kind = Progress::Kind::kNone;
    Progress progress(kind, STDERR_FILENO, cases_.size(), "zygo certify: grader");
    const auto period = progress.period();
    const sys::Nanoseconds began = sys::monotonic_now();
    Tally tally;
    const Result<bool> done = crew_.run(
        cases_, runtime::usable_cpus(), stop,
        [&](const GraderCase& each, const GraderEnd& end) {
          made_.add(each, end);
          tally.add(std::string(name_of(judge_answer(end).answer)), Tally::Kind::kVerdict);
        },
        [&] { progress.tick(sys::monotonic_now(), tally); },
        period ? static_cast<int>(period->count()) : -1);
    progress.clear();
    if (!done) return refuse("certify", {done.error().text(), kExitSandbox});
    if (!*done) {
      write_error_line("zygo certify: interrupted");
      return kExitInterrupted;
    }
    made_.seconds = std::chrono::duration<double>(sys::monotonic_now() - began).count();
    return conclude();
  }

 private:
  void announce() const {
    if (line_.common.quiet) return;
    const std::string limits =
        made_.limits.empty() ? "" : fmt::format(", limits of {}", fmt::join(made_.limits, " and "));
    write_error_line(fmt::format(
        "zygo certify: {} programs, hostile ones among them, will run inside \"{}\"; it is "
        "enclosed "
        "in {}{}",
        cases_.size(), escape_controls(made_.command, Lines::kEscape),
        made_.fence == "namespaces" ? "pid and mount namespaces" : "a group of processes", limits));
  }

  int conclude() const {
    const Style style = style_for(STDOUT_FILENO, line_.common.no_color);
    if (line_.common.json) {
      say(grader_json(made_));
    } else {
      if (!line_.common.quiet) say(grader_table(made_, style));
      if (!line_.common.quiet || !made_.ok()) say(grader_end(made_, style));
    }
    return made_.ok() ? kExitOk : kExitSomeFailed;
  }

  const CommandLine& line_;
  Crew& crew_;
  GraderCertificate made_;
  std::vector<GraderCase> cases_;
};

}  // namespace

int grader_command(const CommandLine& line, const Parts& parts) {
  const GraderOptions& options = line.certify.grader;
  if (options.list) {
    return say(line.common.json ? grader_list_json(grader_corpus()) : grader_list(grader_corpus()));
  }
  if (const std::string unknown = unknown_name(grader_corpus(), options.only); !unknown.empty())
    return refuse("certify", {fmt::format("--only: there is no {}; see --list", unknown)});
  Result<Camp> camp = Camp::make();
  if (!camp) return refuse("certify", {camp.error().text(), kExitSandbox});
  auto fence = choose_fence(options, camp->path());
  if (auto* refusal = std::get_if<Refusal>(&fence)) return refuse("certify", *refusal);
  Crew crew(options, std::get<GraderFence>(fence), camp->path());
  return Audit(line, crew, std::get<GraderFence>(fence)).run(parts.stop ? parts.stop->fd() : -1);
}

}  // namespace cli
