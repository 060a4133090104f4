#include "tools/cli/selfcheck/selfcheck.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "sandbox/probe/probe.h"
#include "sandbox/sys/file.h"
#include "tools/cli/selfcheck/course.h"
#include "tools/cli/selfcheck/strangers.h"

namespace cli {
namespace {

constexpr unsigned kWorkers = 2;  // the attempt and its neighbour
constexpr size_t kWidest = 100;

// One core, so that attempt and neighbour are forks of one zygote and compete for one CPU.
void stay_on_one_cpu() {
  cpu_set_t usable, one;
  if (::sched_getaffinity(0, sizeof usable, &usable) < 0) return;
  for (size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &usable)) continue;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    // A wish: without it the check is less sharp, not wrong.
    (void)::sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

bool shows_lines(const CommonOptions& common) { return !common.json && !common.quiet; }

void show(const std::string& text) {
  static_cast<void>(sys::write_all(STDOUT_FILENO, text + "\n").ok());
}

struct Output {
  Style style;
  size_t width;
};

// Runs as the first job of another attempt, never alone.
bool is_opening(const Attempt& attempt, const std::vector<Attempt>& all) {
  return std::any_of(all.begin(), all.end(),
                     [&attempt](const Attempt& other) { return other.after == attempt.name; });
}

// After the engine is gone, with all that it ever started.
Finding judge_survivors(unsigned count) {
  Finding finding{.name = "90_outlive_zygo", .title = "Outlive zygo itself"};
  finding.standing = count == 0 ? Standing::kHeld : Standing::kEscaped;
  finding.seen = count == 0 ? "no process of any job is left"
                            : fmt::format("{} processes of jobs were left on the host", count);
  return finding;
}

// An empty report when it was interrupted.
sys::Result<std::optional<SelfcheckReport>> check(Course& course, const CommonOptions& common,
                                                  const Output& output,
                                                  sandbox::Layers given_by_host) {
  const std::vector<Attempt> attempts = TRY(selfcheck_attempts());
  const auto began = std::chrono::steady_clock::now();
  SelfcheckReport report;
  for (const Attempt& attempt : attempts) {
    if (is_opening(attempt, attempts)) continue;
    std::optional<Finding> finding = TRY(course.run(attempt, attempts));
    if (!finding) return std::optional<SelfcheckReport>();
    if (shows_lines(common) && course.level())
      show(finding_line(*finding, output.style, output.width));
    report.findings.push_back(*std::move(finding));
    if (!course.level()) break;  // no job has reached a cell: there is nothing to be checked
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
  report.seconds = taken.count();
  report.enforced = layer_names(course.enforced());
  if (auto level = course.level()) {
    report.level = sandbox::name_of(*level);
    uint32_t due = given_by_host.bits() & sandbox::layers_of(*level).bits();
    report.not_in_force = layer_names(sandbox::Layers::from_bits(due & ~course.enforced().bits()));
  }
  return std::optional(std::move(report));
}

void conclude(const SelfcheckReport& report, const CommonOptions& common, const Output& output) {
  if (common.json) return show(selfcheck_json(report));
  if (common.quiet && report.all_held()) return;
  if (common.quiet) {
    for (const Finding& finding : report.findings) {
      if (finding.standing == Standing::kHeld || finding.standing == Standing::kNotPromised)
        continue;
      show(finding_line(finding, output.style, output.width));
    }
  }
  show(selfcheck_summary(report, output.style));
}

}  // namespace

int selfcheck_command(const CommandLine& line, const Parts& parts) {
  auto options = engine_options(line.common, parts.builtin_templates, kWorkers, parts.stop);
  if (auto* refusal = std::get_if<Refusal>(&options)) return refuse("selfcheck", *refusal);
  // Before the engine has groups of its own, and before there are threads.
  sandbox::Layers given = sandbox::available_layers(sandbox::probe_host());
  sys::Result<Bait> bait = Bait::lay();
  if (!bait) return refuse("selfcheck", {"lay the bait: " + bait.error().text(), kExitSandbox});
  std::vector<pid_t> ours = adopt_orphans();
  stay_on_one_cpu();
  auto engine = parts.start_engine(std::get<runtime::EngineOptions>(std::move(options)));
  if (!engine) return refuse("selfcheck", {engine.error().text(), kExitSandbox});

  Output output{style_for(STDOUT_FILENO, line.common.no_color), kWidest};
  if (is_terminal(STDOUT_FILENO)) output.width = std::min(terminal_width(STDOUT_FILENO), kWidest);
  std::string chosen = chosen_template(line.common);
  Course course(**engine, *bait, chosen.empty() ? "python" : chosen, parts.stop);
  auto report = check(course, line.common, output, given);
  engine->reset();
  for (pid_t process : bait->processes()) ours.push_back(process);  // perhaps made anew meanwhile
  Finding survivors = judge_survivors(end_strangers(ours));
  if (!report) return refuse("selfcheck", {report.error().text(), kExitSandbox});
  std::optional<SelfcheckReport>& made = *report;
  if (!made) {
    write_error_line("zygo selfcheck: interrupted");
    return kExitInterrupted;
  }
  if (made->level.empty()) {
    const std::string why = made->findings.empty() ? "" : made->findings[0].seen;
    return refuse("selfcheck", {"no job reached a cell: " + why, kExitSandbox});
  }
  if (shows_lines(line.common)) show(finding_line(survivors, output.style, output.width));
  made->findings.push_back(std::move(survivors));
  conclude(*made, line.common, output);
  return made->all_held() ? kExitOk : kExitSomeFailed;
}

}  // namespace cli
