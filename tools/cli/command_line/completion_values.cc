#include "tools/cli/command_line/completion_values.h"

#include <array>
#include <string_view>

#include "sandbox/policy.h"
#include "tools/cli/command_line/core/grammar.h"

namespace cli {
namespace {

constexpr std::array<std::string_view, 7> kFiles{"FILE",    "PATH",       "PROGRAM", "JOBS",
                                                 "PACKAGE", "SUBMISSION", "DIR"};

std::vector<std::string> level_names() {
  std::vector<std::string> names;
  for (const auto level : sandbox::kLevels) names.emplace_back(sandbox::name_of(level));
  return names;
}

// Words that the option's own help lists behind a colon: "Access log on stderr: text, json, off".
// Only where each is one word, so that a sentence is never taken for a list.
std::vector<std::string> listed_words(const std::string& help) {
  const size_t colon = help.find(": ");
  if (colon == help.npos) return {};
  std::vector<std::string> words;
  for (std::string word : CLI::detail::split(help.substr(colon + 2), ',')) {
    const size_t begin = word.find_first_not_of(' ');
    const size_t end = word.find_first_of(" ;", begin);
    if (begin == word.npos) return {};
    const std::string rest = end == word.npos ? "" : word.substr(end);
    if (!rest.empty() && !rest.starts_with(" (") && !rest.starts_with(";")) return {};
    words.push_back(word.substr(begin, end - begin));
    if (rest.starts_with(";")) break;
  }
  return words.size() > 1 ? words : std::vector<std::string>{};
}

}  // namespace

Values values_of(const CLI::Option& option) {
  const std::string name = option.get_positional() ? option.get_name(true) : placeholder_of(option);
  if (std::find(kFiles.begin(), kFiles.end(), name) != kFiles.end())
    return {.files = true, .words = {}};
  if (name.starts_with("LEVEL")) return {.words = level_names()};
  if (option.get_positional() || !takes_value(option)) return {};
  return {.words = listed_words(option.get_description())};
}

}  // namespace cli
