#pragma once
// Commands that print what is known without running anything: `zygo completion`, `zygo manual`,
// `zygo version`. Their text is made while the command line is parsed, since the grammar exists
// only then; it is written later, like all output of a command.

#include "tools/cli/command_line/core/parser.h"
#include "tools/cli/command_line/help_text.h"

namespace cli {

void add_completion(CLI::App& app, CommandLine& into);
std::string finish_completion(const CLI::App& app, CommandLine& line);
void add_manual(CLI::App& app, CommandLine& into);
// Throws CLI::Error where there is no such page.
std::string finish_manual(const CLI::App& app, CommandLine& line);
void add_version(CLI::App& app, CommandLine& into);
std::string finish_version(const CLI::App& app, CommandLine& line);

// After all others.
inline constexpr Syntax kCompletionSyntax{.path = "completion",
                                          .help = "Completions for a shell",
                                          .footer = kCompletionExamples,
                                          .command = Command::kDocument,
                                          .add = add_completion,
                                          .finish = finish_completion,
                                          .has_common = false};
inline constexpr Syntax kManualSyntax{.path = "manual",
                                      .help = "Manual pages",
                                      .footer = kManualExamples,
                                      .command = Command::kDocument,
                                      .add = add_manual,
                                      .finish = finish_manual,
                                      .has_common = false};

inline constexpr Syntax kVersionSyntax{.path = "version",
                                       .help = "The version, and that of the formats",
                                       .footer = kVersionExamples,
                                       .command = Command::kDocument,
                                       .add = add_version,
                                       .finish = finish_version,
                                       .has_common = false};

int document_command(const CommandLine& line);

}  // namespace cli
