#include "tools/cli/command_line/scale_options.h"

#include "tools/cli/command_line/carried_options.h"
#include "tools/cli/command_line/core/parsed_option.h"
#include "tools/cli/command_line/serve_options.h"
#include "tools/cli/units.h"

namespace cli {
namespace {

constexpr unsigned kMostPilots = 100'000;

void add_pace(CLI::App& app, ScaleOptions& into) {
  parsed_option(app, "--wait", "TIME", "More pilots while a new job waits longer (default 2s)",
                into.wait, parse_duration);
  parsed_option(app, "--idle", "TIME", "Fewer after so long with less than half to do (default 2m)",
                into.idle, parse_duration);
  parsed_option(app, "--settling", "TIME",
                "A slot that has begun has so long to join before more are asked for (default 2m)",
                into.settling, parse_duration);
  parsed_option(app, "--every", "TIME", "Between two looks (default 5s)", into.every,
                parse_duration);
  parsed_option(app, "--ending", "TIME", "Pilots have so long to go at the end (default 150s)",
                into.ending, parse_duration);
}

}  // namespace

void add_scale(CLI::App& app, CommandLine& line) {
  ScaleOptions& into = line.scale;
  app.add_option("--engine", into.engine, "slurm or htcondor")
      ->check(CLI::IsMember({"slurm", "htcondor", "kubernetes"}))
      ->type_name("ENGINE")
      ->required();
  app.add_option("--url", into.url,
                 "The router: http://HOST[:PORT][/PREFIX] or https://HOST[:PORT][/PREFIX]")
      ->type_name("URL")
      ->required();
  app.add_option("--token-file", into.token_file, "File with a token of scope metrics, if it asks")
      ->type_name("FILE");
  app.add_option(
         "--ca-file", into.ca_file,
         "https: certificates that the router's may be signed by, for pilots, too (default: "
         "the system's)")
      ->type_name("FILE");
  app.add_option("--cert-file", into.cert_file, "https: the certificate of zygo scale")
      ->type_name("FILE");
  app.add_option("--key-file", into.key_file, "https: its key")->type_name("FILE");
  whole_number(app.add_option("--min", into.least, "Pilots at any time (default 0)"), 0u,
               kMostPilots);
  whole_number(app.add_option("--max", into.most, "No more pilots than these")->required(), 1u,
               kMostPilots);
  app.add_option("--name", into.name, "Of the engine's jobs; finds them again (default zygo-scale)")
      ->type_name("NAME");
  app.add_option("--directive", into.directives,
                 "The engine's own, as partition=short; may be repeated")
      ->type_name("NAME=VALUE")
      ->take_all();
  app.add_flag("--dry-run", into.dry_run, "Say what it would do");
  add_pace(app, into);
  app.option_defaults()->group("Pilots");
  app.add_option("--join", line.pilot.join, "The router for pilots (default: --url)")
      ->type_name("URL")
      ->take_all();
  app.add_option("--pilot-token-file", line.pilot.token_file, "File with the pilots' token there")
      ->type_name("FILE");
  app.add_option("--pilot-ca-file", line.pilot.ca_file, "https: --ca-file of pilots, there")
      ->type_name("FILE");
  app.add_option("--pilot-cert-file", line.pilot.cert_file,
                 "https: the certificate of pilots, there")
      ->type_name("FILE");
  app.add_option("--pilot-key-file", line.pilot.key_file, "https: its key, there")
      ->type_name("FILE");
  add_slots(app, line.pilot);
  app.option_defaults()->group("Options");
}

std::string finish_scale(const CLI::App& app, CommandLine& line) {
  line.pilot.carried =
      common_options_for_pilots(*app.get_subcommand("scale"), line.from_environment);
  return "";
}

}  // namespace cli
