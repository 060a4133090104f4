#pragma once
// The plan of a `zygo serve`, read from its options and from the files and variables that they
// name. Both processes of a service make it, before either meets a byte of a client.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "runtime/builds/template_spec.h"
#include "service/options.h"
#include "tools/cli/command_line/command_line.h"
#include "tools/cli/engine_setup.h"

namespace cli {

struct ServePlan {
  service::ServiceOptions service;  // without the ledger, the blobs and files of this host
  std::vector<runtime::TemplateSpec> templates;
};
// "serve", "pilot" or "route".
std::string name_of_command(const CommandLine& line);

std::variant<ServePlan, Refusal> plan_service(const CommandLine& line, const Parts& parts);

// Durable jobs and files of this host, which only the process that answers requests opens.
std::optional<Refusal> open_files(const ServeOptions& from, service::ServiceOptions& into);

}  // namespace cli
