#include "tools/cli/certify/certify.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "runtime/host/proc.h"
#include "tools/cli/certify/daemons.h"
#include "tools/cli/certify/grader/grader.h"
#include "tools/cli/certify/mix.h"
#include "tools/cli/certify/room.h"
#include "tools/cli/certify/saboteur.h"
#include "tools/cli/certify/trial.h"

namespace cli {
namespace {

using Corpus = std::vector<LabelledJob>;
using Known = std::vector<runtime::TemplateSpec>;

constexpr size_t kBuiltIn = 1000;
// Of the order, of the kills: independent of the programs', which have the seed itself.
constexpr uint64_t kOrders = 1'000'003, kKills = 2'000'003;

bool is_python(const std::string& name, const Known& known) {
  const auto found = std::find_if(known.begin(), known.end(),
                                  [&name](const auto& spec) { return spec.name == name; });
  return found != known.end() && !found->runtime;
}

std::variant<Corpus, Refusal> read_files(const CertifyOptions& options,
                                         const runtime::JobDefaults& defaults, const Known& known) {
  Corpus corpus;
  for (const std::string& path : options.corpora) {
    sys::Result<Corpus> read = read_corpus(path, defaults);
    if (!read) return Refusal{read.error().text(), kExitUsage, Lines::kEscape};
    for (LabelledJob& each : *read) {
      if (auto refusal = check_template(each.job.template_name, known))
        return Refusal{fmt::format("{}: template: {}", each.place, refusal->sentence), kExitUsage,
                       Lines::kEscape};
      corpus.push_back(std::move(each));
    }
  }
  return corpus;
}

std::variant<Corpus, Refusal> make_corpus(const CommandLine& line, const Known& known) {
  runtime::JobDefaults defaults;
  const std::string chosen = chosen_template(line.common);
  if (!chosen.empty()) defaults.job.template_name = chosen;
  if (!line.certify.corpora.empty()) return read_files(line.certify, defaults, known);
  if (!is_python(defaults.job.template_name, known)) {
    return Refusal{
        fmt::format("--template {}: the built-in programs are of Python; name a corpus of your own",
                    defaults.job.template_name)};
  }
  const size_t count = line.certify.jobs == 0 ? kBuiltIn : line.certify.jobs;
  sys::Result<Corpus> made = built_in_corpus(count, line.certify.seed, defaults);
  if (!made) return Refusal{"built-in corpus: " + made.error().text(), kExitSandbox};
  return *std::move(made);
}

std::string name_of_corpus(const CertifyOptions& options, size_t size) {
  if (options.corpora.empty())
    return fmt::format("{} built-in programs, seed {}", size, options.seed);
  const std::string more =
      options.corpora.size() == 1 ? "" : fmt::format(" and {} more", options.corpora.size() - 1);
  return fmt::format("{} jobs of {}{}, seed {}", size, options.corpora.front(), more, options.seed);
}

// All the rounds of a certification, one engine after another.
class Certification {
 public:
  Certification(const CommandLine& line, const Parts& parts, runtime::EngineOptions options,
                const Corpus& corpus)
      : line_(line), parts_(parts), options_(std::move(options)), corpus_(corpus) {
    made_.corpus = name_of_corpus(line.certify, corpus.size());
    made_.seed = line.certify.seed;
    made_.cpus = runtime::usable_cpus();
  }

  // Nothing: all rounds have been run. Else the exit code.
  std::optional<int> run() {
    for (const unsigned load : line_.certify.loads) {
      if (const auto code = round(load, false)) return code;
      if (!line_.certify.faults) continue;
      if (const auto code = round(load, true)) return code;
    }
    return std::nullopt;
  }

  int conclude() const {
    const bool flipped = !made_.flips.empty();
    if (line_.common.json) {
      say(certificate_json(made_));
    } else if (!line_.common.quiet || flipped) {
      say(certificate_end(made_, style_));
    }
    return flipped ? kExitSomeFailed : kExitOk;
  }

 private:
  bool shows_table() const { return !line_.common.json && !line_.common.quiet; }

  Progress progress_of(const LoadRow& row, size_t jobs) const {
    auto kind = is_terminal(STDERR_FILENO) ? Progress::Kind::kBar : Progress::Kind::kLines;
    if (line_.common.quiet) kind = Progress::Kind::kNone;
    const std::string who =
        fmt::format("zygo certify: load {}{}", row.load, row.faults ? ", faults" : "");
    return Progress(kind, STDERR_FILENO, jobs, who);
  }

  std::optional<int> round(unsigned load, bool faults) {
    runtime::EngineOptions options = options_;
    options.workers = load * made_.cpus;
    Daemons* daemons = nullptr;
    auto engine = faults ? start_daemons(options, daemons) : parts_.start_engine(options);
    if (!engine) return refuse("certify", {engine.error().text(), kExitSandbox});
    if (made_.rows.empty()) {
      made_.level = sandbox::name_of((*engine)->standing().level);
      if (shows_table()) say(certificate_head(made_));
    }
    Scorer scorer({.load = load, .workers = (*engine)->workers(), .faults = faults});
    if (!perform(**engine, daemons, scorer)) {
      write_error_line("zygo certify: interrupted");
      return kExitInterrupted;
    }
    made_.rows.push_back(scorer.row());
    made_.flips.insert(made_.flips.end(), scorer.flips().begin(), scorer.flips().end());
    if (shows_table()) say(certificate_row(scorer.row(), style_));
    return std::nullopt;
  }

  using Started = sys::Result<std::unique_ptr<runtime::Engine>>;

  // What is to be killed is no process that counts flips.
  Started start_daemons(const runtime::EngineOptions& options, Daemons*& daemons) const {
    auto started = TRY(Daemons::open([this, options] { return parts_.start_engine(options); }));
    daemons = started.get();
    return std::unique_ptr<runtime::Engine>(std::move(started));
  }

  bool perform(runtime::Engine& engine, Daemons* daemons, Scorer& scorer) const {
    LoadRow& row = scorer.row();
    const uint64_t round = 2 * uint64_t{row.load} + (row.faults ? 1 : 0);
    const CertifyOptions& wanted = line_.certify;
    const size_t jobs = wanted.jobs == 0 ? jobs_for(corpus_.size(), engine.workers()) : wanted.jobs;
    Dice dice(wanted.seed + kOrders * round);
    const std::vector<size_t> order = random_order(corpus_.size(), jobs, dice);
    const int stop = parts_.stop == nullptr ? -1 : parts_.stop->fd();
    Trial trial(engine, corpus_, progress_of(row, order.size()), stop);
    if (!row.faults) return trial.run(order, scorer);
    Saboteur saboteur(wanted.seed + kKills * round, {[daemons] { return daemons->pid(); },
                                                     [daemons] { return daemons->kill(); }});
    const bool done = trial.run(order, scorer, [&saboteur] { saboteur.stop(); });
    row.kills = saboteur.kills();
    row.daemon_kills = saboteur.daemon_kills();
    return done;
  }

  const CommandLine& line_;
  const Parts& parts_;
  const runtime::EngineOptions options_;
  const Corpus& corpus_;
  const Style style_ = style_for(STDOUT_FILENO, line_.common.no_color);
  Certificate made_;
};

}  // namespace

int certify_command(const CommandLine& line, const Parts& parts) {
  if (!line.certify.grader.command.empty() || line.certify.grader.list)
    return grader_command(line, parts);
  auto options = engine_options(line.common, parts.builtin_templates, 0, parts.stop);
  if (auto* refusal = std::get_if<Refusal>(&options)) return refuse("certify", *refusal);
  auto known = known_templates(line.common, parts.builtin_templates);
  auto made = make_corpus(line, std::get<Known>(known));
  if (auto* refusal = std::get_if<Refusal>(&made)) return refuse("certify", *refusal);
  const Corpus& corpus = std::get<Corpus>(made);
  const std::string wrong = objection_to_loads(line.certify.loads, runtime::usable_cpus(),
                                               need_of_worker(corpus), available_memory());
  if (!wrong.empty()) return refuse("certify", {wrong, kExitSandbox});

  Certification certification(line, parts, std::get<runtime::EngineOptions>(std::move(options)),
                              corpus);
  if (const auto code = certification.run()) return *code;
  return certification.conclude();
}

}  // namespace cli
