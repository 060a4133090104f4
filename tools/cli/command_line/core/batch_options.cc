#include "tools/cli/command_line/core/batch_options.h"

#include <CLI/CLI.hpp>

#include "tools/cli/command_line/core/parsed_option.h"

namespace cli {

void add_batch(CLI::App& app, CommandLine& line) {
  BatchOptions& into = line.batch;
  app.add_option("JOBS", into.jobs, "NDJSON file, one job a line; - is stdin (the default)")
      ->type_name("");
  app.add_option("-o,--results", into.results, "Results file (default: stdout)")->type_name("FILE");
  whole_number(
      app.add_option("--workers", into.workers, "Jobs that run at once (default: chosen by cores)"),
      1u, 4096u);
  app.add_option("--defaults", into.defaults, "JSON object: fields of a job that a line leaves out")
      ->type_name("FILE");
  app.add_flag("--record", into.record, "Each result carries its whole job, for zygo replay");
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

std::string finish_batch(const CLI::App&, CommandLine& line) {
  if (line.batch.resume && line.batch.results.empty())
    return "--resume needs a results file: -o FILE";
  return "";
}

}  // namespace cli
