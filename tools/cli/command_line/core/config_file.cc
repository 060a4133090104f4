#include "tools/cli/command_line/core/config_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <vector>

#include "sandbox/sys/file.h"

namespace cli {
namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::string& sentence) {
  throw CLI::ValidationError("--config", sentence);
}

// Its value is a list, as its help says: a,b,...
bool takes_list(const CLI::Option& option) {
  return option.get_type_name().find(",") != std::string::npos;
}

json read_object(const std::string& path) {
  sys::Result<std::string> text = sys::read_file(path, size_t{1} << 20);
  if (!text) refuse(text.error().text());
  json object = json::parse(*text, nullptr, false);
  if (object.is_discarded()) refuse(path + ": not JSON");
  if (!object.is_object()) refuse(path + ": not a JSON object");
  return object;
}

// As they would be written behind the option, once or several times.
std::vector<std::string> texts_of(const json& value, const std::string& where) {
  if (value.is_string()) return {value.get<std::string>()};
  if (value.is_boolean() || value.is_number()) return {value.dump()};
  if (!value.is_array()) refuse(where + ": neither text, number, true, false nor a list of text");
  std::vector<std::string> texts;
  for (const json& item : value) {
    if (!item.is_string()) refuse(where + ": a list may hold text only");
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

// An option that may be repeated gets its items one by one. Of the others, those that take several
// values at all want them with commas between.
void give(CLI::Option& option, const json& value, const std::string& where) {
  const std::vector<std::string> texts = texts_of(value, where);
  const bool repeats = option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  if (texts.size() > 1 && !repeats && !takes_list(option))
    refuse(where + ": expected one value, not a list");
  if (repeats) {
    for (const std::string& text : texts) option.add_result(text);
  } else {
    option.add_result(fmt::format("{}", fmt::join(texts, ",")));
  }
  option.run_callback();
}

CLI::Option* option_in(CLI::App& app, const std::string& key) {
  CLI::Option* option = app.get_option_no_throw("--" + key);
  bool usable = option != nullptr && !option->get_group().empty() && key != "config" &&
                key != "help" && key != "version";
  return usable ? option : nullptr;
}

bool known_anywhere(CLI::App& app, const std::string& key) {
  if (option_in(app, key) != nullptr) return true;
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    if (known_anywhere(*command, key)) return true;
  }
  return false;
}

// The chosen command's option, unless the command line gave it, there or before the command's name.
CLI::Option* option_to_fill(CLI::App& app, const std::string& key) {
  CLI::Option* found = nullptr;
  for (CLI::App* at = &app; at != nullptr;) {
    if (CLI::Option* option = option_in(*at, key)) {
      if (option->count() > 0) return nullptr;
      found = option;
    }
    std::vector<CLI::App*> chosen = at->get_subcommands();
    at = chosen.empty() ? nullptr : chosen.front();
  }
  return found;
}

}  // namespace

void apply_config_file(const std::string& path, CLI::App& app) {
  json object = read_object(path);
  for (const auto& [key, value] : object.items()) {
    if (!known_anywhere(app, key)) refuse(fmt::format("{}: \"{}\" is not an option", path, key));
    const std::string where = fmt::format("{}: {}", path, key);
    if (CLI::Option* option = option_to_fill(app, key)) give(*option, value, where);
  }
}

}  // namespace cli
