#include "tools/cli/command_line/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "runtime/job/limits.h"
#include "runtime/values/nearest_name.h"
#include "tools/cli/command_line/config_file.h"
#include "tools/cli/command_line/documents.h"
#include "tools/cli/command_line/environment.h"
#include "tools/cli/command_line/help_text.h"
#include "tools/cli/command_line/parsed_option.h"
#include "tools/cli/refusal.h"
#include "tools/cli/serve/options.h"
#include "tools/cli/top/top_options.h"
#include "tools/cli/units.h"

#ifndef ZYGO_VERSION
#define ZYGO_VERSION "0"
#endif

namespace cli {
namespace {

sys::Result<std::vector<std::string>> parse_list(const std::string& text) {
  std::vector<std::string> items = CLI::detail::split(text, ',');
  for (const std::string& item : items) {
    if (item.empty()) {
      return sys::Error::because(fmt::format("\"{}\" has an empty name; write e.g. a,b", text));
    }
  }
  return items;
}

sys::Result<sandbox::Level> parse_level(const std::string& text) {
  if (auto level = sandbox::level_named(text)) return *level;
  return sys::Error::because(
      fmt::format("\"{}\" is not a level; choose full, contained or minimal", text));
}

sys::Result<sandbox::Profile> parse_profile(const std::string& text) {
  if (auto profile = sandbox::profile_named(text)) return *profile;
  return sys::Error::because(
      fmt::format("\"{}\" is not a profile; choose pure, default, subprocess or build", text));
}

sys::Result<sandbox::Layers> parse_layers(const std::vector<std::string>& names) {
  sandbox::Layers layers;
  for (const std::string& name : names) {
    auto layer = sandbox::layer_named(name);
    if (!layer) {
      return sys::Error::because(
          fmt::format("\"{}\" is not a layer; `zygo doctor` lists them", name));
    }
    layers = layers.with(*layer);
  }
  return layers;
}

// LEVEL[,LAYER...]; a list of layers alone is fine too.
void read_require(const std::string& text, CommonOptions& into) {
  auto names = parse_list(text);
  if (!names) throw CLI::ValidationError("--require", names.error().text());
  if (auto level = sandbox::level_named(names->front())) {
    into.required_level = level;
    names->erase(names->begin());
  }
  auto layers = parse_layers(*names);
  if (!layers) throw CLI::ValidationError("--require", layers.error().text());
  into.required_layers = *layers;
}

void read_without(const std::string& text, CommonOptions& into) {
  const char* testing = std::getenv("ZYGO_TESTING");
  if (testing == nullptr || std::string_view(testing) != "1") {
    throw CLI::ValidationError("--without", "takes isolation away and is for tests of zygo only");
  }
  auto names = parse_list(text);
  if (!names) throw CLI::ValidationError("--without", names.error().text());
  auto layers = parse_layers(*names);
  if (!layers) throw CLI::ValidationError("--without", layers.error().text());
  into.without = *layers;
}

void add_common(CLI::App& app, CommonOptions& into) {
  app.option_defaults()->group(kCommonGroup);
  parsed_option(app, "--level", "LEVEL", "Isolation level to use: full, contained, minimal",
                into.level, parse_level);
  app.add_option_function<std::string>(
         "--require", [&into](const std::string& text) { read_require(text, into); },
         "Refuse to run with less, e.g. full,cgroup.memory")
      ->type_name("LEVEL[,LAYER...]");
  app.add_option("--config", into.config,
                 "JSON file: an object with the long options' names, e.g. {\"memory\": \"256M\"}")
      ->type_name("FILE");
  app.add_flag("--json", into.json, "Write for programs: JSON");
  app.add_flag("--quiet", into.quiet, "No progress, no tables, no messages about success");
  app.add_flag("--no-color", into.no_color,
               "No colour (NO_COLOR in the environment does the same)");
  app.add_option("--python", into.python,
                 "Interpreter, also that of a venv; or a packed environment (zygo image pack)")
      ->type_name("PATH")
      ->capture_default_str();
  parsed_option(app, "--preload", "a,b,...", "Define a template that imports these modules first",
                into.preload, parse_list);
  app.add_option("--setup", into.setup,
                 "Python file that this template runs once, behind its imports; programs reach "
                 "its definitions as the module zygo_setup")
      ->type_name("FILE");
  app.add_option("--template", into.template_name,
                 "Template to use; with --preload or --setup, the new one's name (else \"custom\")")
      ->type_name("NAME");
  app.add_option("--image", into.image,
                 "Image that programs see instead of the host's /usr (zygo image list)")
      ->type_name("NAME");
  app.add_option("--packages", into.packages,
                 "Folder of a Piston package, or of LANGUAGE/VERSION folders of such, as runtimes")
      ->type_name("DIR")
      ->take_all()
      ->allow_extra_args(false);
  parsed_option(app, "--build-cache", "SIZE",
                "Most bytes of compiled programs to keep on disk (default 1G; 0: nothing)",
                into.build_cache, parse_size);
  app.add_option("--heap", into.heap, "How templates keep their memory (for tests and benches)")
      ->check(CLI::IsMember({"plain", "moved", "merged", "huge"}))
      ->group("");
  app.add_option_function<std::string>(
         "--start", [&into](const std::string& word) { into.warm = word == "warm"; },
         "How interpreters of runtimes start (for tests and benches)")
      ->check(CLI::IsMember({"warm", "exec"}))
      ->group("");
  app.add_option_function<std::string>(
         "--without", [&into](const std::string& text) { read_without(text, into); }, "")
      ->group("");
  app.option_defaults()->group("Options");
}

// "10s", "512M", "64"
std::string words_of(const runtime::LimitRule& rule) {
  const int64_t usual = rule.get(runtime::Limits{});
  if (rule.unit() == "ms") return fmt::format("{}s", usual / 1000);
  return std::to_string(usual) + (rule.unit() == "mb" ? "M" : rule.unit() == "kb" ? "K" : "");
}

// `shared`: other limits have the option, too, and other defaults.
void add_limit(CLI::App& app, const runtime::LimitRule& rule, bool shared, RunOptions& into) {
  const std::string option(rule.option);
  const std::string help =
      std::string(rule.help) + (shared ? "" : " (default " + words_of(rule) + ")");
  const auto put = [&into, key = rule.option](runtime::LimitRule::Amount amount) {
    into.limits[key] = amount;
  };
  const auto put_parsed = [option, put](const auto& value) {
    if (!value) throw CLI::ValidationError(option, value.error().text());
    put(*value);
  };
  const auto usual = rule.amount_in({});
  if (std::holds_alternative<sys::Milliseconds>(usual)) {
    app.add_option_function<std::string>(
           option, [=](const std::string& text) { put_parsed(parse_duration(text)); }, help)
        ->type_name("TIME");
  } else if (std::holds_alternative<sys::Bytes>(usual)) {
    app.add_option_function<std::string>(
           option, [=](const std::string& text) { put_parsed(parse_size(text)); }, help)
        ->type_name("SIZE");
  } else {
    const auto put_count = [put](uint32_t count) { put(count); };
    whole_number(app.add_option_function<uint32_t>(option, put_count, help),
                 static_cast<unsigned>(rule.min), static_cast<unsigned>(rule.max));
  }
}

void add_limits(CLI::App& app, RunOptions& into) {
  app.option_defaults()->group("Limits");
  for (const runtime::LimitRule& rule : runtime::kLimits) {
    if (rule.help.empty()) continue;
    const bool shared =
        std::ranges::count(runtime::kLimits, rule.option, &runtime::LimitRule::option) > 1;
    add_limit(app, rule, shared, into);
  }
  app.option_defaults()->group("Options");
}

void add_run(CLI::App& app, RunOptions& into) {
  app.add_option("PROGRAM", into.program,
                 "Source file; - reads it from stdin. Its extension chooses the template")
      ->type_name("");
  app.add_option("ARGS", into.args, "The program's own arguments; put them behind --")
      ->type_name("");
  add_limits(app, into);
  parsed_option(app, "--profile", "NAME", "Operations allowed: pure, default, subprocess, build",
                into.profile, parse_profile);
  whole_number(app.add_option("--determinism", into.determinism,
                              "Run N times under different seeds and compare"),
               1u, 8u);
  CLI::Option* call = app.add_option("--call", into.func, "Call FUNC after running the definitions")
                          ->type_name("FUNC");
  CLI::Option* inputs = app.add_option("--inputs", into.inputs, "JSON array: one call per element")
                            ->type_name("FILE");
  call->needs(inputs);
  inputs->needs(call);
  app.add_flag("--array", into.array, "Nested lists of integers become numpy arrays")->needs(call);
  app.add_option("--stdin", into.stdin_file, "The program's stdin, instead of zygo's own")
      ->type_name("FILE")
      ->excludes(call);
  app.add_option("--compiler-flag", into.compiler_flags,
                 "A word for the compiler, e.g. --compiler-flag=-O3; repeatable")
      ->type_name("FLAG")
      ->allow_extra_args(false);
  app.add_flag("--command", into.is_command,
               "PROGRAM is no file but a program of the image, by name or path");
  app.add_flag("--observe", into.observe,
               "Count every system call, and say which profile the program needs (slow)");
}

void add_batch(CLI::App& app, BatchOptions& into) {
  app.add_option("JOBS", into.jobs, "NDJSON file, one job a line; - is stdin (the default)")
      ->type_name("");
  app.add_option("-o,--results", into.results, "Results file (default: stdout)")->type_name("FILE");
  whole_number(
      app.add_option("--workers", into.workers, "Jobs that run at once (default: chosen by cores)"),
      1u, 4096u);
  app.add_option("--defaults", into.defaults, "JSON object: fields of a job that a line leaves out")
      ->type_name("FILE");
  CLI::Option* resume = app.add_flag(
      "--resume", into.resume, "Keep the results that FILE of -o already has and run the rest");
  app.add_flag("--overwrite", into.overwrite, "Replace the results that FILE of -o already has")
      ->excludes(resume);
  app.add_flag("--any-id", into.any_id,
               "Ids may come again and are not remembered, for coprocesses that stay for ever")
      ->excludes(resume);
  app.add_option("--share", into.share,
                 "Descriptor of a SEQPACKET socket: each stream socket that comes over it has a "
                 "batch of its own, of the same workers")
      ->type_name("FD")
      ->check(CLI::Range(3, 1 << 20));
}

void add_judge(CLI::App& app, JudgeOptions& into) {
  app.add_option("PACKAGE", into.package, "Folder of a problem package (ICPC, Kattis)")
      ->required()
      ->type_name("");
  CLI::Option* submissions =
      app.add_option("SUBMISSION", into.submissions, "Source files, or folders of files")
          ->type_name("");
  app.add_flag("--self", into.self,
               "Judge the package's example submissions and compare with their folders")
      ->excludes(submissions);
  app.add_flag("--all", into.all, "Run the tests after the first failure, too");
  whole_number(app.add_option("--workers", into.workers,
                              "Tests that run at once with --all (default: by cores)"),
               1u, 4096u);
}

void add_health(CLI::App& app, HealthOptions& into) {
  app.add_option("ADDRESS", into.address,
                 "HOST:PORT or unix:PATH (default: the first of ZYGO_LISTEN, else 127.0.0.1:8000)")
      ->type_name("");
  app.add_flag("--ready", into.ready, "Ask whether it takes jobs, not only whether it is alive");
  parsed_option(app, "--timeout", "TIME", "Time to wait for the answer (default 5s)", into.patience,
                parse_duration);
}

CLI::App* add_command(CLI::App& app, const char* name, const char* help, const char* footer) {
  CLI::App* command = app.add_subcommand(name, help);
  command->footer(footer);
  command->set_help_flag("-h,--help", "This text");
  return command;
}

// A sentence for stderr, headed by the command it is about; or as it is, for `trouble`.
int refuse(const CLI::App& app, const std::string& sentence, std::string* trouble) {
  if (trouble) {
    *trouble = sentence;
    return kExitUsage;
  }
  std::string name;
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    name += (name.empty() ? "" : " ") + at->get_name();
  }
  const std::string hint = fmt::format("Try: zygo {}{}--help", name, name.empty() ? "" : " ");
  return cli::refuse(name, {sentence}, hint);
}

// Everything CLI11 knows about our commands. The values it fills belong to `line`.
struct Grammar {
  explicit Grammar(CommandLine& line) {
    app.set_help_flag("-h,--help", "This text");
    app.set_version_flag("--version", "zygo " ZYGO_VERSION, "The version");
    app.footer(kMainExamples);
    app.require_subcommand(1);
    add_common(app, line.common);
    run = add_command(app, "run", "Run one program and say how it ended", kRunExamples);
    add_run(*run, line.run);
    batch = add_command(app, "batch", "Run many jobs: NDJSON in, NDJSON out", kBatchExamples);
    add_batch(*batch, line.batch);
    serve = add_command(app, "serve", "The same pool behind HTTP", kServeExamples);
    add_serve(*serve, line.serve);
    judge = add_command(app, "judge", "Judge submissions by a problem package", kJudgeExamples);
    add_judge(*judge, line.judge);
    health = add_command(app, "health", "Ask a service whether it is well", kHealthExamples);
    add_health(*health, line.health);
    doctor =
        add_command(app, "doctor", "Report the isolation that this host gives", kDoctorExamples);
    selfcheck = add_command(app, "selfcheck", "Try to break out; fail if anything succeeds",
                            kSelfcheckExamples);
    top = add_command(app, "top", "Show live what a service is doing", kTopExamples);
    add_top(*top, line.top);
    CLI::App* group =
        add_command(app, "template", "Templates: warm interpreters", kTemplateExamples);
    group->require_subcommand(1);
    list = add_command(*group, "list", "The templates and what they preload", kTemplateExamples);
    CLI::App* languages = add_command(app, "runtime", "Runtimes: the languages", kRuntimeExamples);
    languages->require_subcommand(1);
    runtime_list = add_command(
        *languages, "list", "The runtimes, and which of them are offered here", kRuntimeExamples);
    add_images(line);
    add_blobs(line);
    for (CLI::App* command : {run, batch, serve, judge, doctor, selfcheck, top, list, runtime_list,
                              image_import, image_pack, image_list, image_inspect, image_remove,
                              blob_put, blob_list, blob_remove, health})
      add_common(*command, line.common);
    // For --help: main() hands it on before anything is parsed here.
    add_command(app, "isolate", "The command line of isolate(1), for its clients",
                kIsolateExamples);
    documents.emplace(app);
  }

  void add_blobs(CommandLine& line) {
    CLI::App* group =
        add_command(app, "blob", "Blobs: contents that jobs name by their digest", kBlobExamples);
    group->require_subcommand(1);
    blob_put = add_command(*group, "put", "Keep files, and print their digests", kBlobExamples);
    blob_list = add_command(*group, "list", "The blobs of this host", kBlobExamples);
    blob_remove = add_command(*group, "remove", "Remove blobs", kBlobExamples);
    blob_put->add_option("FILE", line.blob.paths, "Files; - is stdin")->required()->type_name("");
    blob_remove->add_option("DIGEST", line.blob.paths, "sha256:...")->required()->type_name("");
  }

  void add_images(CommandLine& line) {
    CLI::App* group =
        add_command(app, "image", "Images: root file systems for templates", kImageExamples);
    group->require_subcommand(1);
    image_import = add_command(
        *group, "import", "Import a root file system or an OCI image under a name", kImageExamples);
    image_list = add_command(*group, "list", "The images of this host", kImageExamples);
    image_inspect =
        add_command(*group, "inspect", "Describe an image and its place", kImageExamples);
    image_remove =
        add_command(*group, "remove", "Remove a name, and content without one", kImageExamples);
    for (CLI::App* command : {image_import, image_inspect, image_remove})
      command->add_option("NAME", line.image.name, "The image's name")->required()->type_name("");
    image_import
        ->add_option("PATH", line.image.path,
                     "Tar archive, OCI layout, output of docker save, or a directory")
        ->required()
        ->type_name("");
    add_pack(*group, line);
  }

  void add_pack(CLI::App& group, CommandLine& line) {
    image_pack =
        add_command(group, "pack", "A Python environment as one file, for --python", kPackExamples);
    CLI::Option* venv =
        image_pack
            ->add_option("--venv", line.image.venv, "Folder of a venv (python -m venv, uv, ...)")
            ->type_name("PATH");
    image_pack->add_option("--conda", line.image.conda, "Or: folder of a conda environment")
        ->type_name("PATH")
        ->excludes(venv);
    image_pack->add_option("-o,--output", line.image.output, "The file to write, e.g. ml.tar.zst")
        ->required()
        ->type_name("FILE");
  }

  Command chosen() const {
    if (blob_put->parsed()) return Command::kBlobPut;
    if (blob_list->parsed()) return Command::kBlobList;
    if (blob_remove->parsed()) return Command::kBlobRemove;
    if (image_pack->parsed()) return Command::kImagePack;
    if (image_import->parsed()) return Command::kImageImport;
    if (image_list->parsed()) return Command::kImageList;
    if (image_inspect->parsed()) return Command::kImageInspect;
    if (image_remove->parsed()) return Command::kImageRemove;
    if (health->parsed()) return Command::kHealth;
    if (run->parsed()) return Command::kRun;
    if (batch->parsed()) return Command::kBatch;
    if (serve->parsed()) return Command::kServe;
    if (judge->parsed()) return Command::kJudge;
    if (selfcheck->parsed()) return Command::kSelfcheck;
    if (top->parsed()) return Command::kTop;
    if (runtime_list->parsed()) return Command::kRuntimeList;
    return doctor->parsed() ? Command::kDoctor : Command::kTemplateList;
  }

  CLI::App app{"Runs untrusted programs, each in a fresh sandbox, and says how they ended.",
               "zygo"};
  CLI::App* run = nullptr;
  CLI::App* batch = nullptr;
  CLI::App* serve = nullptr;
  CLI::App* judge = nullptr;
  CLI::App* doctor = nullptr;
  CLI::App* selfcheck = nullptr;
  CLI::App* top = nullptr;
  CLI::App* list = nullptr;
  CLI::App* runtime_list = nullptr;
  CLI::App* blob_put = nullptr;
  CLI::App* blob_list = nullptr;
  CLI::App* blob_remove = nullptr;
  CLI::App* image_import = nullptr;
  CLI::App* image_pack = nullptr;
  CLI::App* image_list = nullptr;
  CLI::App* image_inspect = nullptr;
  CLI::App* image_remove = nullptr;
  CLI::App* health = nullptr;
  std::optional<Documents> documents;
};

// The option of the command, or the command, that was probably meant.
std::string suggestion(const CLI::App& app, const std::string& word) {
  const CLI::App* chosen = &app;
  while (!chosen->get_subcommands().empty()) chosen = chosen->get_subcommands().front();
  std::vector<std::string> known;
  if (word.starts_with('-')) {
    for (const CLI::App* at = chosen; at; at = at->get_parent()) {
      for (const CLI::Option* option : at->get_options()) {
        for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
      }
    }
  } else {
    const auto any = [](const CLI::App*) { return true; };
    for (const CLI::App* command : chosen->get_subcommands(any))
      known.push_back(command->get_name());
  }
  const std::vector<std::string_view> names(known.begin(), known.end());
  const std::string_view nearest = runtime::nearest_name(word.substr(0, word.find('=')), names);
  return nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest);
}

}  // namespace

std::variant<CommandLine, int> parse_command_line(std::vector<std::string> arguments,
                                                  std::string* trouble) {
  CommandLine line;
  line.arguments = arguments;
  Grammar grammar(line);
  CLI::App& app = grammar.app;
  const auto end_of_options = std::find(arguments.begin(), arguments.end(), "--");
  const bool json_was_said =
      std::find(arguments.begin(), end_of_options, "--json") != end_of_options;
  const auto refused = [&](const std::string& sentence) {
    if (!trouble) refuse_in_json(json_was_said || line.common.json);
    return refuse(app, sentence, trouble);
  };
  try {
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
    app.parse(std::move(arguments));
    if (auto documents = grammar.documents->asked()) {
      line.command = Command::kDocument;
      line.document = *std::move(documents);
      return line;
    }
    line.command = grammar.chosen();
    apply_environment(app);
    if (line.command == Command::kServe && !line.common.quiet && !trouble)
      warn_of_variables(*grammar.serve);
    if (!line.common.config.empty()) apply_config_file(line.common.config, app);
    if (!trouble) refuse_in_json(line.common.json);
    if (line.command == Command::kRun && line.run.program.empty() && line.common.image.empty())
      return refused("PROGRAM is required (with --image, its own command is run without one)");
    if (line.command == Command::kImagePack && line.image.venv.empty() && line.image.conda.empty())
      return refused("what is to be packed: --venv PATH or --conda PATH");
    if (line.command == Command::kJudge && !line.judge.self && line.judge.submissions.empty()) {
      return refused("no SUBMISSION; or --self for the package's own");
    }
    if (line.batch.resume && line.batch.results.empty()) {
      return refused("--resume needs a results file: -o FILE");
    }
  } catch (const CLI::Success& asked) {  // --help, --version
    return app.exit(asked);
  } catch (const CLI::ExtrasError& error) {
    const std::vector<std::string> extras = app.remaining(true);
    std::string hint = extras.empty() ? "" : suggestion(app, extras.front());
    if (hint.empty() && grammar.run->parsed()) hint = "; a program's own options go behind --";
    return refused(error.what() + hint);
  } catch (const CLI::RequiredError& error) {
    std::vector<std::string> unknown = app.remaining(true);
    if (unknown.empty()) return refused(error.what());
    return refused(fmt::format("unknown command or option \"{}\"{}", unknown.front(),
                               suggestion(app, unknown.front())));
  } catch (const CLI::Error& error) {
    return refused(error.what());
  }
  return line;
}

}  // namespace cli
