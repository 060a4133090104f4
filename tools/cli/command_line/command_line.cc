#include "tools/cli/command_line/command_line.h"

#include <CLI/CLI.hpp>

#include "tools/cli/command_line/core/batch_options.h"
#include "tools/cli/command_line/core/parsed_option.h"
#include "tools/cli/command_line/core/parser.h"
#include "tools/cli/command_line/documents.h"
#include "tools/cli/command_line/help_text.h"
#include "tools/cli/command_line/run_options.h"
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

void add_health(CLI::App& app, CommandLine& line) {
  HealthOptions& into = line.health;
  app.add_option("ADDRESS", into.address,
                 "HOST:PORT or unix:PATH (default: the first of ZYGO_LISTEN, else 127.0.0.1:8000)")
      ->type_name("");
  app.add_flag("--ready", into.ready, "Ask whether it takes jobs, not only whether it is alive");
  parsed_option(app, "--timeout", "TIME", "Time to wait for the answer (default 5s)", into.patience,
                parse_duration);
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
    kBatchSyntax,
    {"serve", "The same pool behind HTTP", kServeExamples, Command::kServe, add_serve},
    {"judge", "Judge submissions by a problem package", kJudgeExamples, Command::kJudge, add_judge,
     finish_judge},
    {"health", "Ask a service whether it is well", kHealthExamples, Command::kHealth, add_health},
    {"doctor", "Report the isolation that this host gives", kDoctorExamples, Command::kDoctor},
    {"selfcheck", "Try to break out; fail if anything succeeds", kSelfcheckExamples,
     Command::kSelfcheck},
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
};

}  // namespace

std::variant<CommandLine, int> parse_command_line(std::vector<std::string> arguments,
                                                  std::string* trouble) {
  return parse_command_line({.commands = kCommands, .footer = kMainExamples}, std::move(arguments),
                            trouble);
}

}  // namespace cli
