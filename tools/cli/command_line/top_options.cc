#include "tools/cli/command_line/top_options.h"

#include "tools/cli/command_line/core/parsed_option.h"
#include "tools/cli/units.h"

namespace cli {

void add_top(CLI::App& app, CommandLine& line) {
  TopOptions& into = line.top;
  app.add_option(
         "--url", into.url,
         "The service: http://HOST[:PORT][/PREFIX], https://HOST[:PORT][/PREFIX] or unix:PATH "
         "(default http://127.0.0.1:8000)")
      ->type_name("URL");
  app.add_option("--token-file", into.token_file, "File with the token to show, if it asks for one")
      ->type_name("FILE");
  app.add_option("--ca-file", into.ca_file,
                 "https: certificates that the service's may be signed by (default: the system's)")
      ->type_name("FILE");
  app.add_option("--cert-file", into.cert_file, "https: the certificate of zygo top")
      ->type_name("FILE");
  app.add_option("--key-file", into.key_file, "https: its key")->type_name("FILE");
  parsed_option(app, "--every", "TIME", "Between two looks (default 1s)", into.every,
                parse_duration);
  app.add_flag("--once", into.once, "Show it once and end");
}

}  // namespace cli
