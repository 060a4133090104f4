#include "tools/cli/command_line/documents.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tools/cli/command_line/completion.h"
#include "tools/cli/command_line/manual.h"
#include "tools/cli/text.h"

#ifndef ZYGO_VERSION
#define ZYGO_VERSION "0"
#endif

namespace cli {
namespace {

// Of jobs, results and the HTTP API: the number in /v1/. docs/stability.md says what it promises.
constexpr int kApiVersion = 1;

// Each shell looks here below a folder such as /usr/share.
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

void add_completion(CLI::App& app, CommandLine& line) {
  app.add_option("SHELL", line.document.shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->type_name("");
}

std::string finish_completion(const CLI::App& app, CommandLine& line) {
  line.document.text = completion_script(app, line.document.shell).value_or("");
  return "";
}

void add_manual(CLI::App& app, CommandLine& line) {
  app.group("");  // not shown
  app.add_option("PAGE", line.document.page, "E.g. zygo-run")->type_name("");
  app.add_option("-o,--output", line.document.folder, "Folder for all of them")->type_name("PATH");
}

std::string finish_manual(const CLI::App& app, CommandLine& line) {
  DocumentOptions& wanted = line.document;
  const std::map<std::string, std::string> pages = manual_pages(app, ZYGO_VERSION);
  if (wanted.folder.empty()) {
    const auto page = pages.find((wanted.page.empty() ? "zygo" : wanted.page) + ".1");
    if (page == pages.end())
      throw CLI::ValidationError(wanted.page, "is no page; there are " + names_of(pages));
    wanted.text = page->second;
    return "";
  }
  for (const auto& [name, text] : pages) wanted.files["man/man1/" + name] = text;
  for (const auto& [shell, path] : kShells) wanted.files[path] = *completion_script(app, shell);
  return "";
}

void add_version(CLI::App& app, CommandLine& line) {
  app.add_flag("--json", line.common.json, "Write for programs: JSON");
}

std::string finish_version(const CLI::App&, CommandLine& line) {
  const nlohmann::ordered_json object = {{"version", ZYGO_VERSION}, {"api", kApiVersion}};
  line.document.text = (line.common.json ? object.dump() : "zygo " ZYGO_VERSION) + "\n";
  return "";
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
