#include "tools/cli/command_line/documents.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <map>

#include "tools/cli/command_line/completion.h"
#include "tools/cli/command_line/manual.h"
#include "tools/cli/text.h"

#ifndef ZYGO_VERSION
#define ZYGO_VERSION "0"
#endif

namespace cli {
namespace {

constexpr const char* kCompletionExamples =
    R"~(Prints a script for the shell to read. Installed packages have it where shells look by themselves.

Examples:
  source <(zygo completion bash)
  zygo completion bash > ~/.local/share/bash-completion/completions/zygo
  zygo completion zsh > ~/.zfunc/_zygo
  zygo completion fish > ~/.config/fish/completions/zygo.fish
)~";

constexpr const char* kManualExamples =
    R"~(Prints the manual page of zygo or of one command, as source for man; with -o writes those of all
commands, and the completions, into a folder like /usr/local/share.

Examples:
  zygo manual zygo-run | man -l -
  zygo manual -o /usr/local/share
)~";

// Where each shell looks below a folder such as /usr/share.
const std::pair<const char*, const char*> kShells[] = {
    {"bash", "bash-completion/completions/zygo"},
    {"zsh", "zsh/site-functions/_zygo"},
    {"fish", "fish/vendor_completions.d/zygo.fish"}};

std::string names_of(const std::map<std::string, std::string>& pages) {
  std::string names;
  for (const auto& [name, text] : pages)
    names += (names.empty() ? "" : ", ") + name.substr(0, name.size() - 2);
  return names;
}

}  // namespace

Documents::Documents(CLI::App& app) : app_(app) {
  completion_ = app.add_subcommand("completion", "Completions for a shell");
  completion_->footer(kCompletionExamples);
  completion_->set_help_flag("-h,--help", "This text");
  completion_->add_option("SHELL", shell_, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->type_name("");
  manual_ = app.add_subcommand("manual", "Manual pages")->group("");
  manual_->footer(kManualExamples);
  manual_->set_help_flag("-h,--help", "This text");
  manual_->add_option("PAGE", page_, "E.g. zygo-run")->type_name("");
  manual_->add_option("-o,--output", folder_, "Folder for all of them")->type_name("PATH");
}

std::optional<DocumentOptions> Documents::asked() const {
  DocumentOptions wanted;
  if (completion_->parsed()) {
    wanted.text = completion_script(app_, shell_).value_or("");
    return wanted;
  }
  if (!manual_->parsed()) return std::nullopt;
  const std::map<std::string, std::string> pages = manual_pages(app_, ZYGO_VERSION);
  if (folder_.empty()) {
    const auto page = pages.find((page_.empty() ? "zygo" : page_) + ".1");
    if (page == pages.end())
      throw CLI::ValidationError(page_, "is no page; there are " + names_of(pages));
    wanted.text = page->second;
    return wanted;
  }
  wanted.folder = folder_;
  for (const auto& [name, text] : pages) wanted.files["man/man1/" + name] = text;
  for (const auto& [shell, path] : kShells) wanted.files[path] = *completion_script(app_, shell);
  return wanted;
}

int document_command(const CommandLine& line) {
  const DocumentOptions& wanted = line.document;
  if (wanted.folder.empty())
    return write_output(STDOUT_FILENO, wanted.text) ? kExitOk : kExitSandbox;
  for (const auto& [name, text] : wanted.files) {
    const std::filesystem::path path = std::filesystem::path(wanted.folder) / name;
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << text;
    file.close();
    if (error || !file) {
      write_error_line("zygo manual: cannot write " +
                       escape_controls(path.string(), Lines::kEscape));
      return kExitSandbox;
    }
  }
  return kExitOk;
}

}  // namespace cli
