#include "service/apis/nemo/tracebacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace service::nemo {

namespace {

constexpr std::string_view kFirstLine = "Traceback (most recent call last):";
constexpr std::string_view kIndent = "    ";  // of a source line

struct Place {
  std::string_view file, line;
  std::string_view function;  // empty: it is where a SyntaxError is
  bool is_of_program() const { return file == "main.py" || file.starts_with("step "); }
};

enum class Kind : uint8_t {
  kHead,
  kFrame,
  kSource,  // of the frame before
  kFolded,  // frames that are not shown
  kSyntax,
  kSyntaxSource,
  kCarets,  // a SyntaxError may have none
  kException,
  kLink,  // to the exception that came of it
  kOther,
};

struct Part {
  Kind kind;
  std::string_view line;  // without its end
  Place place = {};       // of kFrame and kSyntax
};

std::optional<Place> place_of(std::string_view line) {
  constexpr std::string_view kFile = "  File \"", kLine = "\", line ", kIn = ", in ";
  if (!line.starts_with(kFile)) return {};
  line.remove_prefix(kFile.size());
  const size_t end = line.find(kLine);
  if (end == line.npos) return {};
  const std::string_view rest = line.substr(end + kLine.size());
  const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  const Place place{line.substr(0, end), rest.substr(0, digits), {}};
  if (digits == 0 || digits == rest.size())
    return digits == 0 ? std::nullopt : std::optional(place);
  if (!rest.substr(digits).starts_with(kIn)) return {};
  return Place{place.file, place.line, rest.substr(digits + kIn.size())};
}

bool is_link(std::string_view line) {
  return line == "The above exception was the direct cause of the following exception:" ||
         line == "During handling of the above exception, another exception occurred:";
}

bool is_carets(std::string_view line) {
  const size_t first = line.find_first_not_of(' ');
  return first != line.npos && line.find_first_not_of('^', first) == line.npos;
}

// `before` is the kind of the line before it, and no message.
Part part_of(std::string_view line, Kind before) {
  if (line == kFirstLine) return {Kind::kHead, line};
  if (const std::optional<Place> place = place_of(line))
    return {place->function.empty() ? Kind::kSyntax : Kind::kFrame, line, *place};
  if (before == Kind::kFrame && line.starts_with(kIndent)) return {Kind::kSource, line};
  if (before == Kind::kSyntax && line.starts_with(kIndent)) return {Kind::kSyntaxSource, line};
  if (before == Kind::kSyntaxSource && is_carets(line)) return {Kind::kCarets, line};
  if (line.starts_with("  [")) return {Kind::kFolded, line};
  return {line.empty() || line.front() == ' ' ? Kind::kOther : Kind::kException, line};
}

// A message goes on for lines that may look like any other: they are left alone up to a link.
std::vector<Part> parts_of(std::string_view traceback, size_t raw) {
  std::vector<Part> parts;
  bool is_message = false;
  while (!traceback.empty()) {
    const size_t end = std::min(traceback.find('\n'), traceback.size());
    const std::string_view line = traceback.substr(0, end);
    const bool is_raw = traceback.size() <= raw;
    traceback.remove_prefix(std::min(end + 1, traceback.size()));
    const Kind before = parts.empty() ? Kind::kOther : parts.back().kind;
    if (is_link(line) && !is_raw)
      parts.push_back({Kind::kLink, line});
    else
      parts.push_back(is_message || is_raw ? Part{Kind::kOther, line} : part_of(line, before));
    const Kind kind = parts.back().kind;
    is_message = kind == Kind::kException || (is_message && kind != Kind::kLink);
  }
  return parts;
}

// "json.decoder.JSONDecodeError: .." is told without its module.
std::string_view without_module(std::string_view line) {
  const std::string_view name = line.substr(0, line.find(':'));
  const size_t dot = name.rfind('.');
  return dot == name.npos || name.find(' ') != name.npos ? line : line.substr(dot + 1);
}

std::string ipython_place(const Place& place) {
  const bool has_name = !place.function.empty() && place.function != "<module>";
  return fmt::format("  File {}:{}{}{}\n", place.file, place.line, has_name ? " in " : "",
                     has_name ? place.function : "");
}

// `has_source`: it stands behind this part.
std::string ipython_part(const Part& part, bool is_minimal, bool has_source) {
  switch (part.kind) {
    case Kind::kHead:
    case Kind::kSource:
    case Kind::kFolded:
      return is_minimal ? "" : fmt::format("{}\n", part.line);
    case Kind::kFrame:
    case Kind::kSyntax: {
      const bool is_left_out = part.kind == Kind::kFrame && is_minimal;
      const bool is_in_cell = part.place.is_of_program() && has_source;
      return is_left_out || is_in_cell ? "" : ipython_place(part.place);
    }
    case Kind::kCarets:
      return fmt::format("{}^\n", part.line.substr(0, part.line.find('^')));
    case Kind::kException:
      return fmt::format("{}\n", without_module(part.line));
    case Kind::kSyntaxSource:
    case Kind::kLink:
    case Kind::kOther:
      break;
  }
  return fmt::format("{}\n", part.line);
}

std::string command_part(const Part& part) {
  if (part.kind == Kind::kSource) return "";
  const bool is_place = part.kind == Kind::kFrame || part.kind == Kind::kSyntax;
  if (!is_place || !part.place.is_of_program()) return fmt::format("{}\n", part.line);
  const std::string_view in = part.kind == Kind::kFrame ? ", in " : "";
  return fmt::format("  File \"<string>\", line {}{}{}\n", part.place.line, in,
                     part.place.function);
}

}  // namespace

std::string told_by_ipython(std::string_view traceback, Verbosity verbosity, size_t raw) {
  if (verbosity == Verbosity::kFull) return std::string(traceback);
  const std::vector<Part> parts = parts_of(traceback, raw);
  const auto kind_at = [&parts](size_t at) {
    return at < parts.size() ? parts[at].kind : Kind::kOther;
  };
  std::string text;
  for (size_t at = 0; at < parts.size(); ++at) {
    const Kind before = at > 0 ? parts[at - 1].kind : Kind::kOther, behind = kind_at(at + 1);
    // CPython shows no place in a line of the wrong indentation.
    const bool lacks_caret =
        before == Kind::kSyntaxSource && parts[at].line.starts_with("IndentationError");
    if (lacks_caret) text.append(kIndent).append("^\n");
    const bool is_gap = before == Kind::kLink && parts[at].line.empty();
    const bool has_source = behind == Kind::kSource || behind == Kind::kSyntaxSource;
    if (!is_gap) text += ipython_part(parts[at], verbosity == Verbosity::kMinimal, has_source);
  }
  return text;
}

std::string told_of_command(std::string_view traceback, size_t raw) {
  std::string text;
  for (const Part& part : parts_of(traceback, raw)) text += command_part(part);
  return text;
}

}  // namespace service::nemo
