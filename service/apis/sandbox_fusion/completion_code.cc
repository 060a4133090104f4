#include "service/apis/sandbox_fusion/completion_code.h"

#include <algorithm>
#include <array>
#include <vector>

namespace service {

namespace {

constexpr std::string_view kFence = "```";
constexpr std::string_view kSpace = " \t\r\n\f\v\x1c\x1d\x1e\x1f";

// The tags that may stand behind a fence, for languages that have more than one name or another.
struct Tags {
  std::string_view language;
  std::string_view tags;  // between blanks
};
constexpr std::array kTags = std::to_array<Tags>({
    {"python", " python Python py Python3 python3 PY "},
    {"cpp", " cpp c++ C++ Cpp CPP "},
    {"nodejs", " javascript Javascript JavaScript JS js "},
    {"go", " go Go "},
    {"java", " java Java "},
    {"php", " php PHP "},
    {"csharp", " csharp c# C# "},
    {"bash", " bash Bash BASH sh shell "},
    {"typescript", " typescript "},
    {"rust", " rust Rust rs "},
    {"sql", " sql SQL Sql "},
    {"julia", " julia Julia jl "},
    {"lua", " lua Lua "},
    {"perl", " perl Perl PERL "},
    {"R", " R r "},
    {"ruby", " ruby Ruby "},
    {"scala", " scala Scala "},
    {"verilog", " verilog Verilog VERILOG "},
    {"racket", " racket "},
    {"swift", " swift "},
});

struct Block {
  std::string_view tag, code;
};

std::string_view stripped(std::string_view text) {
  const size_t first = text.find_first_not_of(kSpace);
  if (first == text.npos) return "";
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

bool is_tag_of(std::string_view tag, std::string_view language) {
  for (const Tags& known : kTags) {
    if (known.language != language || tag.empty() || tag.find(' ') != tag.npos) continue;
    const size_t at = known.tags.find(std::string(" ") + std::string(tag) + " ");
    return at != known.tags.npos;
  }
  return false;
}

// A block is opened by a fence, a tag and the end of the line.
struct Opening {
  std::string_view tag;
  size_t code;  // where that begins
};
std::optional<Opening> next_opening(std::string_view text, size_t from) {
  const size_t fence = text.find(kFence, from);
  if (fence == text.npos) return std::nullopt;
  const size_t tag = fence + kFence.size(), end = text.find('\n', tag);
  if (end == text.npos) return std::nullopt;
  return Opening{stripped(text.substr(tag, end - tag)), end + 1};
}

// The end of the last line before one that begins, blanks and empty lines aside, with a fence.
struct Closing {
  size_t code_end, after;
};
std::optional<Closing> next_closing(std::string_view text, size_t from) {
  for (size_t end = text.find('\n', from); end != text.npos;) {
    const size_t word = text.find_first_not_of(kSpace, end);
    if (word == text.npos) return std::nullopt;
    if (text.substr(word).starts_with(kFence)) return Closing{end, word + kFence.size()};
    end = text.find('\n', word);
  }
  return std::nullopt;
}

std::vector<Block> closed_blocks(std::string_view text) {
  std::vector<Block> blocks;
  size_t at = 0;
  while (auto opening = next_opening(text, at)) {
    // Where nothing closes this one, nothing closes a later one.
    const auto closing = next_closing(text, opening->code);
    if (!closing) break;
    blocks.push_back({opening->tag, text.substr(opening->code, closing->code_end - opening->code)});
    at = closing->after;
  }
  return blocks;
}

// The lines that have words.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (!stripped(text.substr(0, end)).empty()) lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

using Lines = std::vector<std::string_view>;
std::string joined(Lines::const_iterator begin, Lines::const_iterator end) {
  std::string text;
  for (; begin != end; ++begin) {
    text += *begin;
    text += '\n';
  }
  return text;
}

bool begins_and_goes_on(std::string_view line, std::string_view word) {
  return line.starts_with(word) && line.size() > word.size();
}
bool is_before_definition(std::string_view line) {
  return begins_and_goes_on(line, "import") || begins_and_goes_on(line, "from") ||
         begins_and_goes_on(line, "#");
}
bool is_definition(std::string_view line) {
  return begins_and_goes_on(line, "def ") || begins_and_goes_on(line, "class ");
}
bool is_indented(std::string_view line) { return kSpace.find(line.front()) != kSpace.npos; }

// The first definition, with its body and the imports and remarks right before it.
std::string python_in(std::string_view text) {
  const Lines lines = lines_of(text);
  for (auto line = lines.begin(); line != lines.end(); ++line) {
    if (!is_definition(*line)) continue;
    auto end = line + 1;
    while (end != lines.end() && is_indented(*end)) ++end;
    if (end == line + 1) continue;
    auto begin = line;
    while (begin != lines.begin() && is_before_definition(*(begin - 1))) --begin;
    return joined(begin, end);
  }
  return "";
}

}  // namespace

std::string code_of_completion(std::string_view completion, std::string_view language) {
  const std::vector<Block> blocks = closed_blocks(completion);
  if (!blocks.empty()) {
    const auto right = std::find_if(blocks.begin(), blocks.end(), [&](const Block& block) {
      return is_tag_of(block.tag, language);
    });
    return std::string((right == blocks.end() ? blocks.begin() : right)->code);
  }
  if (const auto open = next_opening(completion, 0))
    return std::string(completion.substr(open->code));
  if (language == "python") return python_in(completion);
  if (language != "bash") return "";
  const Lines lines = lines_of(completion);
  return joined(lines.begin(), lines.end());
}

}  // namespace service
