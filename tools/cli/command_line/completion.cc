#include "tools/cli/command_line/completion.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <vector>

#include "tools/cli/command_line/completion_values.h"
#include "tools/cli/command_line/core/grammar.h"

namespace cli {
namespace {

std::vector<const CLI::App*> all_commands(const CLI::App& app) {
  std::vector<const CLI::App*> all{&app};
  for (const CLI::App* command : shown_commands(app)) {
    const std::vector<const CLI::App*> below = all_commands(*command);
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

// "/image/import"; the program itself: "".
std::string key_of(const CLI::App& command) {
  const std::string path = path_of(command, "/");
  const size_t slash = path.find('/');
  return slash == path.npos ? "" : path.substr(slash);
}

std::string keys_below(const CLI::App& app, const char* between) {
  std::string keys;
  for (const CLI::App* command : all_commands(app)) {
    const std::string key = key_of(*command);
    if (!key.empty()) keys += (keys.empty() ? "" : between) + key;
  }
  return keys;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::vector<std::string> all_names(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

bool takes_files(const CLI::App& command) {
  for (const CLI::Option* argument : shown_arguments(command))
    if (values_of(*argument).files) return true;
  return false;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : shown_commands(app)) names.push_back(command->get_name());
  return names;
}

// In single quotes, for all three shells alike: none of ours has one within.
std::string quoted(std::string text) {
  for (size_t at = 0; (at = text.find('\'', at)) != text.npos; at += 4)
    text.replace(at, 1, "'\\''");
  return "'" + text + "'";
}

// ---- bash

std::string bash_options(const CLI::App& command) {
  std::string words, values;
  for (const CLI::Option* option : shown_options(command)) {
    words += (words.empty() ? "" : " ") + joined(all_names(*option));
    if (!takes_value(*option)) continue;
    std::string names;
    for (const std::string& name : all_names(*option)) names += (names.empty() ? "" : "|") + name;
    const Values may = values_of(*option);
    values += fmt::format("        {}) kind=value files={} words={} ;;\n", names, may.files ? 1 : 0,
                          quoted(joined(may.words)));
  }
  return fmt::format(
      "    {}/)\n      options={}\n      words={}\n      files={}\n      case $previous in\n{}"
      "      esac ;;\n",
      key_of(command), quoted(words), quoted(joined(command_names(command))),
      takes_files(command) ? 1 : 0, values);
}

constexpr const char* kBash = R"~(# bash completion of zygo, made by: zygo completion bash
_zygo() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}}
  local command= options= words= files=0 kind=word i
  COMPREPLY=()
  # bash takes --option=value for three words.
  if [[ $current == = ]]; then
    current=
  elif [[ $previous == = ]]; then
    previous=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ ${{COMP_WORDS[i]}} == -- ]] && return
    case $command/${{COMP_WORDS[i]}} in
      {}) command+=/${{COMP_WORDS[i]}} ;;
    esac
  done
  case $command/ in
{}  esac
  if [[ $kind == word && $current == -* ]]; then
    words=$options files=0
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  if ((files)); then
    local paths
    mapfile -t paths < <(compgen -f -- "$current")
    COMPREPLY+=("${{paths[@]}}")
    compopt -o filenames 2>/dev/null
  fi
}}
complete -F _zygo zygo
)~";

std::string bash_script(const CLI::App& app) {
  std::string cases;
  for (const CLI::App* command : all_commands(app)) cases += bash_options(*command);
  return fmt::format(kBash, keys_below(app, "|"), cases);
}

// ---- zsh

// A colon and brackets mean something in a specification.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_action(const Values& may) {
  if (may.files) return "_files";
  return may.words.empty() ? " " : "(" + joined(may.words) + ")";
}

std::string zsh_option(const CLI::Option& option) {
  std::string lines;
  for (const std::string& name : all_names(option)) {
    std::string text = fmt::format("*{}{}[{}]", name, takes_value(option) ? "=" : "",
                                   zsh_text(option.get_description()));
    if (takes_value(option)) {
      const std::string what = placeholder_of(option);
      text += ":" + zsh_text(what) + ":" + zsh_action(values_of(option));
    }
    lines += " \\\n    " + quoted(text);
  }
  return lines;
}

std::string zsh_function_of(const CLI::App& command) { return "_" + path_of(command, "_"); }

std::string zsh_function(const CLI::App& command) {
  const std::vector<const CLI::App*> below = shown_commands(command);
  std::string text = zsh_function_of(command) + "() {\n";
  if (!below.empty()) text += "  local context state line\n  local -a commands\n";
  text += "  _arguments -s" + std::string(below.empty() ? "" : " -C");
  for (const CLI::Option* option : shown_options(command)) text += zsh_option(*option);
  if (below.empty()) {
    if (takes_files(command)) text += " \\\n    '*:file:_files'";
    return text + "\n}\n";
  }
  text +=
      " \\\n    '1: :->command' \\\n    '*:: :->rest'\n  case $state in\n    command)\n"
      "      commands=(\n";
  for (const CLI::App* one : below)
    text += "        " + quoted(one->get_name() + ":" + one->get_description()) + "\n";
  text += "      )\n      _describe command commands ;;\n    rest)\n      case $words[1] in\n";
  for (const CLI::App* one : below)
    text += fmt::format("        {}) {} ;;\n", one->get_name(), zsh_function_of(*one));
  return text + "      esac ;;\n  esac\n}\n";
}

std::string zsh_script(const CLI::App& app) {
  std::string text = "#compdef zygo\n# zsh completion of zygo, made by: zygo completion zsh\n";
  for (const CLI::App* command : all_commands(app)) text += zsh_function(*command);
  // By a file in $fpath this is the body of the function _zygo; by source it only defines it.
  return text + "if [[ $funcstack[1] == _zygo ]]; then _zygo \"$@\"; else compdef _zygo zygo; fi\n";
}

// ---- fish

constexpr const char* kFish = R"~(# fish completion of zygo, made by: zygo completion fish
function __zygo_at
    set -l path ''
    for word in (commandline -opc)[2..-1]
        if contains -- $path/$word {}
            set path $path/$word
        end
    end
    test "$path" = "$argv[1]"
end
complete -c zygo -f
)~";

std::string fish_option(const std::string& at, const CLI::Option& option) {
  std::string line = at;
  for (const std::string& name : option.get_snames()) line += " -s " + name;
  for (const std::string& name : option.get_lnames()) line += " -l " + name;
  if (takes_value(option)) {
    const Values may = values_of(option);
    line += may.files ? " -r -F" : " -x";
    if (!may.words.empty()) line += " -a " + quoted(joined(may.words));
  }
  return line + " -d " + quoted(option.get_description()) + "\n";
}

std::string fish_script(const CLI::App& app) {
  std::string text = fmt::format(kFish, keys_below(app, " "));
  for (const CLI::App* command : all_commands(app)) {
    const std::string at =
        "complete -c zygo -n " + quoted("__zygo_at \"" + key_of(*command) + "\"");
    for (const CLI::App* below : shown_commands(*command))
      text += at + " -a " + below->get_name() + " -d " + quoted(below->get_description()) + "\n";
    for (const CLI::Option* option : shown_options(*command)) text += fish_option(at, *option);
    if (takes_files(*command)) text += at + " -F\n";
  }
  return text;
}

}  // namespace

std::optional<std::string> completion_script(const CLI::App& app, const std::string& shell) {
  if (shell == "bash") return bash_script(app);
  if (shell == "zsh") return zsh_script(app);
  if (shell == "fish") return fish_script(app);
  return std::nullopt;
}

}  // namespace cli
