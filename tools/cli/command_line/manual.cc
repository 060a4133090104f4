#include "tools/cli/command_line/manual.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "tools/cli/command_line/core/environment.h"
#include "tools/cli/command_line/core/grammar.h"

namespace cli {
namespace {

// Characters that troff would take for something else, or show as typographic ones.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// A line of text: one that begins with a dot would be a request.
std::string line_of(std::string_view text) {
  return (text.starts_with('.') ? "\\&" : "") + escaped(text) + "\n";
}

std::string bold(const std::string& text) { return "\\fB" + escaped(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + escaped(text) + "\\fR"; }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t from = 0; from < text.size();) {
    const size_t end = std::min(text.find('\n', from), text.size());
    lines.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return lines;
}

// The text under --help, by its parts: what it is about, "Exit code:", "Examples:".
struct Footer {
  std::string about, exit, examples;
};

Footer read_footer(const std::string& text) {
  constexpr std::string_view kExit = "Exit code:", kExamples = "Examples:";
  Footer footer;
  std::string* into = &footer.about;
  bool pending = false;  // an empty line that ends a paragraph, unless nothing follows
  for (const std::string& line : lines_of(text)) {
    if (line.empty()) {
      pending = true;
      continue;
    }
    const bool examples = line == kExamples, exit = line.starts_with(kExit);
    if (examples)
      into = &footer.examples;
    else if (exit)
      into = &footer.exit;
    else if (pending && into != &footer.examples)
      into = &footer.about;
    if (pending && !into->empty()) *into += into == &footer.examples ? "\n" : ".PP\n";
    pending = false;
    if (examples) continue;
    *into +=
        line_of(exit ? line.substr(kExit.size() + (line.size() > kExit.size() ? 1 : 0)) : line);
  }
  return footer;
}

std::string synopsis_of(const CLI::App& command) {
  std::string text = bold(path_of(command)) + " [" + italic("OPTIONS") + "]";
  if (!shown_commands(command).empty()) return text + " " + italic("COMMAND");
  for (const CLI::Option* argument : shown_arguments(command)) {
    const bool many = argument->get_items_expected_max() > 1;
    const std::string name = italic(argument->get_name(true)) + (many ? "..." : "");
    text += " " + (argument->get_required() ? name : "[" + name + "]");
  }
  return text;
}

std::string names_of(const CLI::Option& option) {
  std::string names;
  for (const std::string& name : option.get_snames())
    names += (names.empty() ? "" : ", ") + bold("-" + name);
  for (const std::string& name : option.get_lnames())
    names += (names.empty() ? "" : ", ") + bold("--" + name);
  return takes_value(option) ? names + " " + italic(placeholder_of(option)) : names;
}

std::string item(const std::string& head, const std::string& text) {
  return ".TP\n" + head + "\n" + line_of(text.empty() ? "(undocumented)" : text);
}

std::string options_of(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* argument : shown_arguments(command))
    text += item(italic(argument->get_name(true)), argument->get_description());
  for (const std::string& group : command.get_groups()) {
    std::string items;
    for (const CLI::Option* option : shown_options(command)) {
      if (option->get_group() == group) items += item(names_of(*option), option->get_description());
    }
    if (items.empty()) continue;
    if (group != "Options") text += ".SS " + escaped(group) + "\n";
    text += items;
  }
  return text;
}

std::string environment_of(const CLI::App& command) {
  std::string variables;
  for (const CLI::Option* option : shown_options(command)) {
    const std::string variable = variable_of(command, *option);
    if (!variable.empty()) variables += (variables.empty() ? "" : ", ") + bold(variable);
  }
  if (variables.empty()) return "";
  return line_of(
             "These are read where the command line does not have the option of that name; a "
             "flag is switched on by yes, what may be repeated is separated by commas.") +
         ".PP\n" + variables + ".\n";
}

std::string commands_of(const CLI::App& command) {
  std::string text;
  for (const CLI::App* below : shown_commands(command))
    text += item(bold(path_of(*below)), below->get_description());
  return text;
}

std::string see_also(const CLI::App& command) {
  std::vector<const CLI::App*> others = shown_commands(command);
  if (others.empty() && command.get_parent() != nullptr) {
    for (const CLI::App* sibling : shown_commands(*command.get_parent()))
      if (sibling != &command) others.push_back(sibling);
  }
  std::string text;
  if (command.get_parent() != nullptr) text = "\\fBzygo\\fR(1)";
  for (const CLI::App* other : others)
    text += (text.empty() ? "" : ",\n") + bold(path_of(*other, "-")) + "(1)";
  return text + "\n";
}

std::string section(const char* title, const std::string& text) {
  return text.empty() ? "" : std::string(".SH ") + title + "\n" + text;
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

void collect(const CLI::App& app, const std::string& version,
             std::map<std::string, std::string>& into) {
  into.emplace(path_of(app, "-") + ".1", manual_page(app, version));
  for (const CLI::App* command : shown_commands(app)) collect(*command, version, into);
}

}  // namespace

std::string manual_page(const CLI::App& command, const std::string& version) {
  const std::string name = path_of(command, "-");
  const Footer footer = read_footer(command.get_footer());
  // The date is left out: the same source gives the same page.
  std::string page = fmt::format(".TH \"{}\" 1 \"\" \"zygo {}\" \"zygo\"\n", escaped(upper(name)),
                                 escaped(version));
  page += section("NAME", escaped(name) + " \\- " + escaped(command.get_description()) + "\n");
  page += section("SYNOPSIS", synopsis_of(command) + "\n");
  page += section("DESCRIPTION", footer.about);
  page += section("COMMANDS", commands_of(command));
  page += section("OPTIONS", options_of(command));
  page += section("ENVIRONMENT", environment_of(command));
  page += section("EXIT STATUS", footer.exit);
  if (!footer.examples.empty()) page += section("EXAMPLES", ".nf\n" + footer.examples + ".fi\n");
  return page + section("SEE ALSO", see_also(command));
}

std::map<std::string, std::string> manual_pages(const CLI::App& app, const std::string& version) {
  std::map<std::string, std::string> pages;
  collect(app, version, pages);
  return pages;
}

}  // namespace cli
