#include "tools/cli/command_line/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "tools/cli/command_line/core/batch_options.h"
#include "tools/cli/command_line/core/parsed_option.h"
#include "tools/cli/command_line/core/parser.h"
#include "tools/cli/command_line/documents.h"
#include "tools/cli/command_line/help_text.h"
#include "tools/cli/command_line/run_options.h"
#include "tools/cli/command_line/scale_options.h"
#include "tools/cli/command_line/serve_options.h"
#include "tools/cli/command_line/top_options.h"
#include "tools/cli/units.h"

namespace cli {
namespace {

void add_judge(CLI::App& app, CommandLine& line) {
  JudgeOptions& into = line.judge;
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

std::string finish_judge(const CLI::App&, CommandLine& line) {
  if (line.judge.self || !line.judge.submissions.empty()) return "";
  return "no SUBMISSION; or --self for the package's own";
}

sys::Result<std::vector<unsigned>> parse_loads(const std::string& text) {
  constexpr unsigned kMost = 1024;
  std::vector<unsigned> loads;
  for (const std::string& item : CLI::detail::split(text, ',')) {
    unsigned load = 0;
    const char* end = item.data() + item.size();
    const auto read = std::from_chars(item.data(), end, load);
    if (read.ec != std::errc() || read.ptr != end || load < 1 || load > kMost) {
      return sys::Error::because(fmt::format(
          "\"{}\" is not a load; write whole numbers from 1 to {}, e.g. 1,4,16", item, kMost));
    }
    loads.push_back(load);
  }
  return loads;
}

void add_grader(CLI::App& app, GraderOptions& into) {
  CLI::Option* grader =
      app.add_option(
             "--grader", into.command,
             "Instead: give programs, hostile ones too, to this command of the shell, and find "
             "the wrong answers")
          ->type_name("CMD");
  parsed_option(app, "--kinds", "KIND,...",
                "Tasks that the grader takes: function, class, stdin (default function,class)",
                into.kinds, [](const std::string& text) { return parse_task_kinds(text, ','); });
  app.add_option("--only", into.only, "Only these exploits and variants (see --list)")
      ->delimiter(',')
      ->type_name("NAME,...");
  parsed_option(app, "--timeout", "TIME", "Time of the grader for a case (default 10s)",
                into.timeout, parse_duration);
  parsed_option(app, "--memory", "SIZE", "Memory of the grader (default 2G)", into.memory,
                parse_size);
  app.add_flag("--unconfined", into.unconfined,
               "Run the grader without namespaces of its own, where the host has none");
  app.add_flag("--list", into.list, "List exploits, honest variants and tasks for graders");
  for (const char* of_labels : {"CORPUS", "--loads", "--faults"})
    app.get_option(of_labels)->excludes(grader);
  for (const char* of_graders : {"--kinds", "--only", "--unconfined"})
    app.get_option(of_graders)->needs(grader);
}

void add_certify(CLI::App& app, CommandLine& line) {
  CertifyOptions& into = line.certify;
  app.add_option("CORPUS", into.corpora,
                 "NDJSON files: jobs with a field label; - is stdin (default: built-in programs)")
      ->type_name("");
  parsed_option(app, "--loads", "N,...", "Jobs at once for each core (default 1,4,16,64)",
                into.loads, parse_loads);
  whole_number(app.add_option("--jobs", into.jobs,
                              "Jobs at each load (default: the whole corpus, and at least four "
                              "for each that runs at once); cases for a grader"),
               1u, 10'000'000u);
  app.add_flag("--faults", into.faults,
               "Run each load once more, while cells and templates are killed at random");
  app.add_option("--seed", into.seed, "Decides programs, orders and kills (default 1)")
      ->type_name("N");
  add_grader(app, into.grader);
}

void add_replay(CLI::App& app, CommandLine& line) {
  ReplayOptions& into = line.replay;
  app.add_option("RESULTS", into.results,
                 "A result, or NDJSON lines of results, with records; - is stdin (the default)")
      ->type_name("");
  whole_number(app.add_option("--runs", into.runs, "Run each job N times (default 1)"), 1u, 1000u);
  app.add_flag("--strict", into.strict,
               "Run nothing if zygo, host, template or level are not the recorded ones");
  whole_number(
      app.add_option("--workers", into.workers, "Jobs that run at once (default: chosen by cores)"),
      1u, 4096u);
}

void add_test(CLI::App& app, CommandLine& line) {
  TestOptions& into = line.test;
  app.add_option("TESTS", into.tests, "File of tests (pytest or unittest), or folder of such")
      ->required()
      ->type_name("");
  app.add_option("PROGRAM", into.program, "The tested module: its file, or a folder of modules")
      ->required()
      ->type_name("");
  app.add_flag("--strict", into.strict,
               "Fail tests in which an operator of the program decides about a plain value");
  app.add_option("--framework", into.framework, "Runs the tests (default: by their imports)")
      ->check(CLI::IsMember({"auto", "pytest", "unittest"}))
      ->type_name("NAME");
  parsed_option(app, "--timeout", "TIME",
                "CPU time of the program, in all tests together (default 10s)", into.timeout,
                parse_duration);
  parsed_option(app, "--memory", "SIZE", "Memory of the program (default 512M)", into.memory,
                parse_size);
  app.add_option("--junit", into.junit, "Write the results there, as JUnit XML")->type_name("FILE");
}

void add_health(CLI::App& app, CommandLine& line) {
  HealthOptions& into = line.health;
  app.add_option(
         "ADDRESS", into.address,
         "HOST:PORT, unix:PATH, http://HOST[:PORT][/PREFIX] or https://HOST[:PORT][/PREFIX] "
         "(default: the first of ZYGO_LISTEN, else 127.0.0.1:8000)")
      ->type_name("");
  app.add_flag("--ready", into.ready, "Ask whether it takes jobs, not only whether it is alive");
  app.add_option("--ca-file", into.ca_file,
                 "https: certificates that the service's may be signed by (default: the system's)")
      ->type_name("FILE");
  app.add_option("--cert-file", into.cert_file, "https: the certificate of zygo health")
      ->type_name("FILE");
  app.add_option("--key-file", into.key_file, "https: its key")->type_name("FILE");
  parsed_option(app, "--timeout", "TIME", "Time to wait for the answer (default 5s)", into.patience,
                parse_duration);
}

void add_init(CLI::App& app, CommandLine& line) {
  app.add_option("KIND", line.init.kind, "reward, judge or notebook")
      ->required()
      ->check(CLI::IsMember({"reward", "judge", "notebook"}))
      ->type_name("");
  app.add_option("FOLDER", line.init.folder, "A new folder (default: zygo-KIND)")->type_name("");
  app.add_flag("--quiet", line.common.quiet, "No message about success");
}

void add_blobs(CLI::App& app, CommandLine& line) {
  app.add_option("FILE", line.blob.paths, "Files; - is stdin")->required()->type_name("");
}

void add_digests(CLI::App& app, CommandLine& line) {
  app.add_option("DIGEST", line.blob.paths, "sha256:...")->required()->type_name("");
}

void add_image_name(CLI::App& app, CommandLine& line) {
  app.add_option("NAME", line.image.name, "The image's name")->required()->type_name("");
}

void add_import(CLI::App& app, CommandLine& line) {
  add_image_name(app, line);
  app.add_option("PATH", line.image.path,
                 "Tar archive, OCI layout, output of docker save, or a directory")
      ->required()
      ->type_name("");
}

void add_pack(CLI::App& app, CommandLine& line) {
  CLI::Option* venv =
      app.add_option("--venv", line.image.venv, "Folder of a venv (python -m venv, uv, ...)")
          ->type_name("PATH");
  app.add_option("--conda", line.image.conda, "Or: folder of a conda environment")
      ->type_name("PATH")
      ->excludes(venv);
  app.add_option("-o,--output", line.image.output, "The file to write, e.g. ml.tar.zst")
      ->required()
      ->type_name("FILE");
}

std::string finish_pack(const CLI::App&, CommandLine& line) {
  if (!line.image.venv.empty() || !line.image.conda.empty()) return "";
  return "what is to be packed: --venv PATH or --conda PATH";
}

// In the order of --help.
constexpr Syntax kCommands[] = {
    {"run", "Run one program and say how it ended", kRunExamples, Command::kRun, add_run,
     finish_run},
    {"session", "Run steps that keep their variables, and undo and branch them", kSessionExamples,
     Command::kSession, add_session},
    {"mcp", "The same for agents: the Model Context Protocol on stdio", kMcpExamples, Command::kMcp,
     add_mcp},
    {"kernel", "A kernel of Jupyter whose cells are such steps", kKernelExamples},
    {"kernel install", "Tell Jupyter of it", kKernelExamples, Command::kKernelInstall,
     add_kernel_install},
    {"kernel run", "The kernel, as Jupyter starts it", kKernelExamples, Command::kKernelRun,
     add_kernel_run, finish_kernel_run},
    kBatchSyntax,
    {"serve", "The same pool behind HTTP", kServeExamples, Command::kServe, add_serve},
    {"route", "One address for the pilots of many machines", kRouteExamples, Command::kRoute,
     add_route},
    {"pilot", "Run the jobs of a router on this machine", kPilotExamples, Command::kPilot,
     add_pilot, finish_pilot},
    {"scale", "Ask a batch engine for as many pilots as jobs want", kScaleExamples, Command::kScale,
     add_scale, finish_scale},
    {"judge", "Judge submissions by a problem package", kJudgeExamples, Command::kJudge, add_judge,
     finish_judge},
    {"test", "Run tests against a program in another sandbox", kTestExamples, Command::kTest,
     add_test},
    {.path = "init",
     .help = "Write a small example that runs",
     .footer = kInitExamples,
     .command = Command::kInit,
     .add = add_init,
     .has_common = false},
    {"health", "Ask a service whether it is well", kHealthExamples, Command::kHealth, add_health},
    {"doctor", "Report the isolation that this host gives", kDoctorExamples, Command::kDoctor},
    {"selfcheck", "Try to break out; fail if anything succeeds", kSelfcheckExamples,
     Command::kSelfcheck},
    {"certify",
     "Run jobs of known labels under load and count the labels that differ; try a grader",
     kCertifyExamples, Command::kCertify, add_certify},
    {"replay", "Run the jobs of results again and show the first difference", kReplayExamples,
     Command::kReplay, add_replay},
    {"top", "Show live what a service is doing", kTopExamples, Command::kTop, add_top},
    {"template", "Templates: warm interpreters", kTemplateExamples},
    {"template list", "The templates and what they preload", kTemplateExamples,
     Command::kTemplateList},
    {"runtime", "Runtimes: the languages", kRuntimeExamples},
    {"runtime list", "The runtimes, and which of them are offered here", kRuntimeExamples,
     Command::kRuntimeList},
    {"image", "Images: root file systems for templates", kImageExamples},
    {"image import", "Import a root file system or an OCI image under a name", kImageExamples,
     Command::kImageImport, add_import},
    {"image list", "The images of this host", kImageExamples, Command::kImageList},
    {"image inspect", "Describe an image and its place", kImageExamples, Command::kImageInspect,
     add_image_name},
    {"image remove", "Remove a name, and content without one", kImageExamples,
     Command::kImageRemove, add_image_name},
    {"image pack", "A Python environment as one file, for --python", kPackExamples,
     Command::kImagePack, add_pack, finish_pack},
    {"blob", "Blobs: contents that jobs name by their digest", kBlobExamples},
    {"blob put", "Keep files, and print their digests", kBlobExamples, Command::kBlobPut,
     add_blobs},
    {"blob list", "The blobs of this host", kBlobExamples, Command::kBlobList},
    {"blob remove", "Remove blobs", kBlobExamples, Command::kBlobRemove, add_digests},
    {"isolate", "The command line of isolate(1), for its clients", kIsolateExamples},
    kCompletionSyntax,
    kManualSyntax,
    kVersionSyntax,
};

}  // namespace

std::variant<CommandLine, int> parse_command_line(std::vector<std::string> arguments,
                                                  std::string* trouble) {
  return parse_command_line({.commands = kCommands, .footer = kMainExamples}, std::move(arguments),
                            trouble);
}

}  // namespace cli
