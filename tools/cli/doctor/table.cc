// The checkup as people read it: the levels, the table of layers, then what is missing by cure.

#include <fmt/format.h>

#include <algorithm>

#include "sandbox/probe/words.h"
#include "tools/cli/doctor/doctor.h"

namespace cli {
namespace {

using sandbox::LayerReport;
using sandbox::Level;

constexpr size_t kClauseRoom = 38;  // below this a clause goes to a line of its own

std::string joined(const std::vector<std::string_view>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

// Breaks at spaces; `hang` columns are left free in front of all lines but the first, which begins
// at column `column`. A word that is too long stays whole.
std::string wrapped(std::string_view text, size_t width, size_t column, size_t hang) {
  std::string out;
  bool fresh = true;
  while (!text.empty()) {
    size_t end = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    size_t size = columns_of(word);
    if (!fresh && column + 1 + size > width) {
      out += "\n" + std::string(hang, ' ');
      column = hang;
      fresh = true;
    }
    if (!fresh) out += ' ', ++column;
    out += word;
    column += size;
    fresh = false;
  }
  return out;
}

std::string first_line(const Checkup& checkup) {
  std::optional<Level> level = running_level(checkup);
  if (checkup.asked) {
    return fmt::format("Level {} {}", sandbox::name_of(*checkup.asked),
                       level ? "can run here." : "cannot run here.");
  }
  if (!level) return "This host does not give the floor of isolation: zygo refuses to start.";
  return fmt::format("This host gives level {}.", sandbox::name_of(*level));
}

std::string levels_table(const Checkup& checkup, const Style& style, size_t width) {
  std::string text = style.paint(Colour::kBold, "level      here  missing");
  constexpr size_t kIndent = 17;
  for (Level level : sandbox::kLevels) {
    std::vector<std::string_view> missing = sandbox::missing_for(level, checkup.layers);
    std::string here =
        missing.empty() ? style.paint(Colour::kGreen, "yes") : style.paint(Colour::kRed, "no  ");
    text += fmt::format("\n{:<9}  {}", sandbox::name_of(level), here);
    if (!missing.empty()) text += "  " + wrapped(joined(missing), width, kIndent, kIndent);
  }
  return text;
}

struct Word {
  const char* text;
  Colour colour;
};
Word word_of(std::optional<bool> answer) {
  if (!answer) return {"?", Colour::kYellow};
  return *answer ? Word{"yes", Colour::kGreen} : Word{"no", Colour::kRed};
}

// "-": this level does without.
Word force_of(const Checkup& checkup, const LayerReport& layer) {
  std::optional<Level> level = running_level(checkup);
  if (level && !sandbox::counts_at(*level, layer.name)) return {"-", Colour::kNone};
  return word_of(in_force(checkup, layer));
}

std::string cell(Word word, size_t width, const Style& style) {
  return style.paint(word.colour, fmt::format("{:<{}}", word.text, width));
}

std::string layers_table(const Checkup& checkup, const Style& style, size_t width) {
  size_t name_width = 5;
  for (const auto& layer : checkup.layers) name_width = std::max(name_width, layer.name.size());
  constexpr size_t kKernel = 6, kUsable = 6, kForce = 8;
  const size_t clause_at = name_width + kKernel + kUsable + kForce + 8;
  const bool beside = width >= clause_at + kClauseRoom;

  std::string head = fmt::format("{:<{}}  {:<6}  {:<6}  {:<8}", "layer", name_width, "kernel",
                                 "usable", "in force");
  std::string text = style.paint(Colour::kBold, head + (beside ? "  without it" : ""));
  for (const auto& layer : checkup.layers) {
    text += fmt::format("\n{:<{}}  {}  {}  {}", layer.name, name_width,
                        cell(word_of(layer.kernel), kKernel, style),
                        cell(word_of(layer.available), kUsable, style),
                        cell(force_of(checkup, layer), kForce, style));
    size_t at = beside ? clause_at : 4;
    text += beside ? "  " : "\n    ";
    text += wrapped(sandbox::lost_without(layer.name), width, at, at);
  }
  return text;
}

// The table of what the two processes of `zygo serve` have given up.
std::string own_table(const Checkup& checkup, const Style& style) {
  if (!checkup.own) return "";
  std::string text = "\n\n" + style.paint(Colour::kBold, "zygo's own   engine    front");
  constexpr size_t kName = 11, kEngine = 8, kFront = 5;
  for (const sandbox::Layer each : kOwnLayers) {
    // The engine makes namespaces and mounts, and keeps what that needs.
    const bool has_duties = each != sandbox::Layer::kNoNewPrivs;
    const Word engine = checkup.own->engine.has(each)
                            ? (has_duties ? Word{"partly", Colour::kYellow} : word_of(true))
                            : Word{"-", Colour::kNone};
    text +=
        fmt::format("\n{:<{}}  {}  {}", sandbox::name_of(each), kName, cell(engine, kEngine, style),
                    cell(word_of(checkup.own->front.has(each)), kFront, style));
  }
  return text;
}

// One paragraph per cure: what it gives, what said no, what to do.
struct Prescription {
  std::string cure;
  std::vector<std::string_view> names;
  std::vector<std::string> reasons;
};

std::vector<Prescription> prescriptions(const Checkup& checkup) {
  std::vector<Prescription> all;
  for (const auto& layer : checkup.layers) {
    if (layer.available) continue;
    auto same = std::find_if(all.begin(), all.end(), [&layer](const Prescription& each) {
      return each.cure == layer.cure;
    });
    if (same == all.end()) same = all.insert(all.end(), {layer.cure, {}, {}});
    same->names.push_back(layer.name);
    bool known = std::count(same->reasons.begin(), same->reasons.end(), layer.why) > 0;
    if (!known) same->reasons.push_back(layer.why);
  }
  return all;
}

std::string missing_part(const Checkup& checkup, const Style& style, size_t width) {
  std::string text;
  for (const Prescription& each : prescriptions(checkup)) {
    auto safe = [](const std::string& line) { return escape_controls(line, Lines::kEscape); };
    text += "\n\n" + style.paint(Colour::kBold, wrapped(joined(each.names), width, 0, 0));
    for (const std::string& reason : each.reasons) {
      text += "\n  seen: " + wrapped(safe(reason), width, 8, 8);
    }
    text += "\n  cure: " + wrapped(safe(each.cure), width, 8, 8);
  }
  if (text.empty()) return "\n\nNothing is missing.";
  return "\n\nWhat is missing, and what gives it:" + text;
}

}  // namespace

std::string checkup_table(const Checkup& checkup, const Style& style, size_t width) {
  std::string python = checkup.python_version.empty() ? "not found" : checkup.python_version;
  std::string about = fmt::format("kernel {}, python {} ({}), {}", checkup.kernel, python,
                                  escape_controls(checkup.python, Lines::kEscape),
                                  escape_controls(sentence_of(checkup.location), Lines::kEscape));
  return style.paint(Colour::kBold, first_line(checkup)) + "\n" + wrapped(about, width, 0, 0) +
         "\n\n" + levels_table(checkup, style, width) + "\n\n" +
         layers_table(checkup, style, width) + own_table(checkup, style) +
         missing_part(checkup, style, width);
}

}  // namespace cli
