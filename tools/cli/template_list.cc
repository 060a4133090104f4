#include "tools/cli/template_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sandbox/sys/file.h"
#include "tools/cli/text.h"

namespace cli {

std::string template_table(const std::vector<runtime::TemplateSpec>& known,
                           const std::string& python) {
  size_t name_width = 8, python_width = std::max(size_t{6}, columns_of(python));
  for (const auto& spec : known) name_width = std::max(name_width, columns_of(spec.name));
  std::string text =
      fmt::format("{:<{}}  {:<{}}  {}", "template", name_width, "python", python_width, "preloads");
  for (const auto& spec : known) {
    text += fmt::format(
        "\n{:<{}}  {:<{}}  {}", escape_controls(spec.name, Lines::kEscape), name_width,
        escape_controls(python, Lines::kEscape), python_width,
        escape_controls(fmt::format("{}", fmt::join(spec.preloads, ", ")), Lines::kEscape));
  }
  return text;
}

std::string template_json(const std::vector<runtime::TemplateSpec>& known,
                          const std::string& python) {
  using nlohmann::ordered_json;
  ordered_json list = ordered_json::array();
  for (const auto& spec : known) {
    list.push_back({{"name", spec.name}, {"preloads", spec.preloads}, {"python", python}});
  }
  return list.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

int template_list_command(const CommandLine& line, const Parts& parts) {
  auto known = known_templates(line.common, parts.builtin_templates);
  if (auto* refusal = std::get_if<Refusal>(&known)) return refuse("template list", *refusal);
  auto& list = std::get<std::vector<runtime::TemplateSpec>>(known);
  std::erase_if(list, [](const auto& spec) { return spec.runtime != nullptr; });  // runtime list
  std::string text = line.common.json ? template_json(list, line.common.python)
                                      : template_table(list, line.common.python);
  static_cast<void>(sys::write_all(STDOUT_FILENO, text + "\n").ok());
  return kExitOk;
}

}  // namespace cli
