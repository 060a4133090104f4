#pragma once
// `zygo batch` as the command line knows it.

#include "tools/cli/command_line/core/parser.h"
#include "tools/cli/command_line/help_text.h"

namespace cli {

void add_batch(CLI::App& app, CommandLine& into);
std::string finish_batch(const CLI::App& app, CommandLine& line);

inline constexpr Syntax kBatchSyntax{.path = "batch",
                                     .help = "Run many jobs: NDJSON in, NDJSON out",
                                     .footer = kBatchExamples,
                                     .command = Command::kBatch,
                                     .add = add_batch,
                                     .finish = finish_batch};

}  // namespace cli
