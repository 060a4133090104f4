#include "tools/cli/selfcheck/attempt.h"

#include <algorithm>

namespace cli {
namespace {

using sys::Error;
using sys::Result;

std::string_view trimmed(std::string_view text) {
  size_t begin = std::min(text.find_first_not_of(' '), text.size());
  size_t end = text.find_last_not_of(' ');
  return end == std::string_view::npos ? std::string_view() : text.substr(begin, end - begin + 1);
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    size_t end = std::min(text.find(at), text.size());
    parts.emplace_back(trimmed(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

Result<sandbox::Layers> layers_named(std::string_view value) {
  sandbox::Layers layers;
  for (const std::string& name : split(value, ',')) {
    std::optional<sandbox::Layer> layer = sandbox::layer_named(name);
    if (!layer) return Error::because("no layer is called " + name);
    layers = layers.with(*layer);
  }
  return layers;
}

Result<std::vector<sandbox::Level>> levels_named(std::string_view value) {
  std::vector<sandbox::Level> levels;
  for (const std::string& name : split(value, ',')) {
    std::optional<sandbox::Level> level = sandbox::level_named(name);
    if (!level) return Error::because("no level is called " + name);
    levels.push_back(*level);
  }
  return levels;
}

Result<void> set(Attempt& attempt, std::string_view key, std::string_view value) {
  if (key == "Promised") {
    attempt.promised = TRY(levels_named(value));
  } else if (key == "Needs") {
    attempt.needs = TRY(layers_named(value));
  } else if (key == "By") {
    attempt.by = TRY(layers_named(value));
  } else if (key == "Ends") {
    attempt.ends = split(value, ',');
  } else if (key == "Profile") {
    attempt.profile = value;
  } else if (key == "Limits") {
    attempt.limits = value;
  } else if (key == "Call") {
    attempt.func = value;
  } else if (key == "After") {
    attempt.after = value;
  } else {
    return Error::because("no heading is called " + std::string(key));
  }
  return {};
}

}  // namespace

Result<Attempt> parse_attempt(const EmbeddedProgram& program, std::string_view prelude) {
  auto wrong = [&program](const std::string& why) {
    return Error::because("attempt " + std::string(program.name) + ": " + why);
  };
  constexpr std::string_view kQuotes = "\"\"\"";
  size_t end = program.text.find(kQuotes, kQuotes.size());
  if (!program.text.starts_with(kQuotes) || end == std::string_view::npos) {
    return wrong("does not begin with a heading");
  }
  Attempt attempt{.name = std::string(program.name)};
  attempt.promised = {sandbox::Level::kFull, sandbox::Level::kContained, sandbox::Level::kMinimal};
  attempt.source = std::string(prelude) + "\n" + std::string(program.text);
  for (const std::string& line :
       split(program.text.substr(kQuotes.size(), end - kQuotes.size()), '\n')) {
    if (line.empty()) continue;
    if (attempt.title.empty()) {
      attempt.title = line;
      continue;
    }
    size_t colon = line.find(": ");
    if (colon == std::string::npos) return wrong("\"" + line + "\" is not KEY: VALUE");
    Result<void> done = set(attempt, std::string_view(line).substr(0, colon),
                            trimmed(std::string_view(line).substr(colon + 2)));
    if (!done) return wrong(done.error().text());
  }
  if (attempt.title.empty()) return wrong("has no title");
  return attempt;
}

std::string_view selfcheck_program(std::string_view name) {
  for (const EmbeddedProgram& program : selfcheck_programs()) {
    if (program.name == name) return program.text;
  }
  return {};
}

Result<std::vector<Attempt>> selfcheck_attempts() {
  std::vector<Attempt> attempts;
  for (const EmbeddedProgram& program : selfcheck_programs()) {
    if (program.name == "prelude" || program.name == "neighbour") continue;
    attempts.push_back(TRY(parse_attempt(program, selfcheck_program("prelude"))));
    const Attempt& latest = attempts.back();
    bool known = latest.after.empty() ||
                 std::any_of(attempts.begin(), attempts.end() - 1,
                             [&latest](const Attempt& a) { return a.name == latest.after; });
    if (!known) return Error::because("attempt " + latest.name + ": no earlier " + latest.after);
  }
  std::stable_sort(attempts.begin(), attempts.end(),
                   [](const Attempt& a, const Attempt& b) { return a.name < b.name; });
  return attempts;
}

}  // namespace cli
