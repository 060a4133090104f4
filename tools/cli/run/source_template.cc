#include "tools/cli/run/source_template.h"

#include <fmt/format.h>

#include <algorithm>

namespace cli {

namespace {

constexpr std::string_view kOfPython[] = {"py", "py3", "pyw"};
constexpr const char* kChoose = "choose a template with --template (zygo runtime list)";

std::string ending_of(const std::string& path) {
  const size_t name = path.rfind('/') + 1;  // 0 where there is no slash
  const size_t dot = path.rfind('.');
  // A name that begins with its only dot is hidden, and has no ending.
  return dot == path.npos || dot <= name ? "" : path.substr(dot + 1);
}

std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(" \t\r"));
  line.remove_prefix(word.size());
  return word;
}

// "#!/usr/bin/env -S ruby3.1 -w" names "ruby"; empty: there is no such line. execve(2), env(1)
std::string interpreter_of(std::string_view source) {
  if (!source.starts_with("#!")) return "";
  std::string_view line = source.substr(2, source.find('\n') - 2);
  const auto name_of = [](std::string_view word) { return word.substr(word.rfind('/') + 1); };
  std::string_view name = name_of(next_word(line));
  if (name == "env") {
    name = next_word(line);
    while (name.starts_with('-') || name.find('=') != name.npos) name = next_word(line);
    name = name_of(name);
  }
  const size_t version = name.find_last_not_of("0123456789.");
  return std::string(name.substr(0, version == name.npos ? 0 : version + 1));
}

}  // namespace

std::variant<std::string, Refusal> template_of_source(
    const std::string& path, std::string_view source,
    const std::vector<runtime::TemplateSpec>& known) {
  const std::string ending = path == "-" ? "" : ending_of(path);
  if (std::find(std::begin(kOfPython), std::end(kOfPython), ending) != std::end(kOfPython))
    return "";
  if (!ending.empty()) {
    if (std::string name = template_for_file(path, known); !name.empty()) return name;
    return Refusal{fmt::format("{}: no template is for \".{}\"; {}", path, ending, kChoose)};
  }
  const std::string interpreter = interpreter_of(source);
  if (interpreter.empty() || interpreter == "python" || interpreter == "pypy") return "";
  for (const runtime::TemplateSpec& spec : known) {
    if (spec.runtime && spec.runtime->goes_by(interpreter)) return spec.name;
  }
  // An ending may be a name, too: sh.
  if (std::string name = template_for_file("a." + interpreter, known); !name.empty()) return name;
  return Refusal{fmt::format("{}: no template runs what its first line names, {}; {}", path,
                             interpreter, kChoose)};
}

}  // namespace cli
