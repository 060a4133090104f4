#include <fmt/format.h>

#include <stdexcept>

// Some files that are no TOML meet an assertion of toml++ 3.3 and not an error ("[.a]"): it is one
// here, whatever NDEBUG would make of it.
namespace {
[[noreturn]] void no_toml() { throw std::invalid_argument("this is no TOML"); }
}  // namespace
#undef NDEBUG
#define TOML_ASSERT(expr) ((expr) ? static_cast<void>(0) : no_toml())
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include <nlohmann/json.hpp>

#include "runtime/json/job/job_json.h"
#include "runtime/values/nearest_name.h"
#include "runtime/values/utf8.h"
#include "tools/cli/project/project.h"

namespace cli {
namespace {

using nlohmann::json;
using sys::Error;
using sys::Result;

Error wrong(const std::string& field, std::string_view why) {
  return Error::because(fmt::format("{}: {}", field, why));
}

// What lowers isolation, or runs something else than the caller thinks, is not for a file that
// comes along with a folder.
constexpr std::string_view kCallersOwn[] = {"level",  "require",  "python", "image",
                                            "config", "packages", "profile"};

Error unknown(const std::string& field, const std::string& key,
              std::initializer_list<std::string_view> known) {
  for (const std::string_view own : kCallersOwn) {
    if (key == own)
      return wrong(field, fmt::format("is not for a project; give --{} or the environment", key));
  }
  const std::vector<std::string_view> names(known);
  const std::string_view nearest = runtime::nearest_name(key, names);
  return wrong(field, nearest.empty()
                          ? fmt::format("is unknown; there are {}", fmt::join(names, ", "))
                          : fmt::format("is unknown; did you mean {}?", nearest));
}

Result<std::string> text_of(const toml::node& node, const std::string& field) {
  const toml::value<std::string>* text = node.as_string();
  if (text == nullptr) return wrong(field, "expected text");
  if (text->get().find('\0') != std::string::npos) return wrong(field, "has a byte 0");
  return text->get();
}

Result<std::vector<std::string>> texts_of(const toml::node& node, const std::string& field) {
  const toml::array* items = node.as_array();
  if (items == nullptr) return wrong(field, "expected a list of text");
  std::vector<std::string> texts;
  for (const toml::node& item : *items) {
    texts.push_back(TRY(text_of(item, fmt::format("{}[{}]", field, texts.size()))));
    if (texts.back().empty()) return wrong(field, "has an empty name");
  }
  return texts;
}

// By the rules of a job, which name the field.
Result<std::string> limits_of(const toml::node& node) {
  const toml::table* table = node.as_table();
  if (table == nullptr) return wrong("limits", "expected a table, e.g. [limits]");
  json limits = json::object();
  for (const auto& [key, value] : *table) {
    const std::string name(key.str());
    if (const auto* whole = value.as_integer()) {
      limits[name] = whole->get();
    } else {
      return wrong("limits." + name, "expected a whole number");
    }
  }
  const std::string text = json{{"limits", limits}}.dump(-1, ' ', true);
  if (auto read = runtime::parse_defaults(text); !read) return read.error();
  return limits.dump();
}

Result<ProjectTemplate> template_of(const std::string& name, const toml::node& node) {
  const std::string field = "templates." + name;
  const toml::table* table = node.as_table();
  if (table == nullptr) return wrong(field, "expected a table");
  ProjectTemplate made{name, {}, ""};
  for (const auto& [key, value] : *table) {
    const std::string own(key.str());
    const std::string inner = field + "." + own;
    if (own == "preload") {
      made.preload = TRY(texts_of(value, inner));
    } else if (own == "setup") {
      made.setup = TRY(text_of(value, inner));
    } else {
      return unknown(inner, own, {"preload", "setup"});
    }
  }
  if (made.preload.empty() && made.setup.empty())
    return wrong(field, "has neither preload nor setup");
  return made;
}

Result<Project> project_of(const toml::table& table) {
  Project project;
  for (const auto& [key, value] : table) {
    const std::string name(key.str());
    if (name == "template") {
      project.template_name = TRY(text_of(value, name));
    } else if (name == "limits") {
      project.limits = TRY(limits_of(value));
    } else if (name == "templates") {
      const toml::table* all = value.as_table();
      if (all == nullptr) return wrong(name, "expected tables, e.g. [templates.mine]");
      for (const auto& [own, definition] : *all)
        project.templates.push_back(TRY(template_of(std::string(own.str()), definition)));
    } else {
      return unknown(name, name, {"template", "limits", "templates"});
    }
  }
  return project;
}

}  // namespace

Result<std::optional<Project>> parse_project(std::string_view text, ProjectForm form) try {
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return Error::because(fmt::format("line {}: {}", error.source().begin.line,
                                      std::string_view(error.description())));
  }
  const toml::table* table = &parsed.table();
  if (form == ProjectForm::kPyproject) {
    const toml::node_view<const toml::node> tool = parsed.table()["tool"]["zygo"];
    if (!tool) return std::optional<Project>();
    table = tool.as_table();
    if (table == nullptr) return wrong("tool.zygo", "expected a table");
  }
  return std::optional<Project>(TRY(project_of(*table)));
} catch (const std::invalid_argument& error) {
  return Error::because(error.what());
}

}  // namespace cli
