#include "shim/python/steps/last_statement.h"

#include <algorithm>

namespace shim {
namespace {

using Looks = LastStatement::Looks;

// Words that no expression begins with (the grammar of the language reference).
constexpr std::string_view kKeywords[] = {"assert", "async",  "break", "class",  "continue", "def",
                                          "del",    "elif",   "else",  "except", "finally",  "for",
                                          "from",   "global", "if",    "import", "nonlocal", "pass",
                                          "raise",  "return", "try",   "while",  "with"};

bool is_of_word(char c) {
  const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  return is_letter || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80;
}

bool begins_with_keyword(std::string_view text) {
  const std::string_view word(text.begin(), std::find_if_not(text.begin(), text.end(), is_of_word));
  return std::find(std::begin(kKeywords), std::end(kKeywords), word) != std::end(kKeywords);
}

// Finds the last line that is not empty, indented or a comment; npos: there is none.
size_t begin_of_last_line(std::string_view source) {
  for (size_t end = source.size();;) {
    const size_t before = end == 0 ? source.npos : source.rfind('\n', end - 1);
    const size_t begin = before + 1;  // npos + 1 is 0
    if (begin < end && std::string_view(" \t\f#").find(source[begin]) == std::string_view::npos)
      return begin;
    if (begin == 0) return source.npos;
    end = before;
  }
}

// A text without its strings, comments and brackets.
class Outline {
 public:
  explicit Outline(std::string_view text) : text_(text) {
    while (at_ < text_.size() && !is_broken_) take(text_[at_++]);
    is_broken_ = is_broken_ || depth_ != 0;
    // The text may begin within a long string, and end that where it seems to be in another.
    const bool has_long = text.find("'''") != text.npos || text.find(R"(""")") != text.npos;
    is_sure_ = is_sure_ && !has_long;
  }

  // It ends what has begun before it, or has more than one statement in a line.
  bool is_broken() const { return is_broken_; }
  // Nothing is hidden by a string that may have others within, or have begun before the text.
  bool is_sure() const { return is_sure_; }
  bool assigns() const { return assigns_; }

 private:
  void take(char c) {
    if (c == '"' || c == '\'') return pass_string(c);
    if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth_;
    } else if (c == ')' || c == ']' || c == '}') {
      is_broken_ = --depth_ < 0;
    } else if (c == '=') {
      pass_equals();
    } else if (c == ';' || c == '\\' || c == '\f') {
      is_broken_ = true;
    }
  }

  void pass_string(char quote) {
    size_t prefix = at_ - 1;
    while (prefix > 0 && is_of_word(text_[prefix - 1])) --prefix;
    const std::string_view letters = text_.substr(prefix, at_ - 1 - prefix);
    if (letters.find_first_of("fFtT") != letters.npos) is_sure_ = false;
    const bool is_long = text_.size() > at_ + 1 && text_[at_] == quote && text_[at_ + 1] == quote;
    if (is_long) return pass_long_string(quote);
    for (; at_ < text_.size() && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        ++at_;
      } else if (text_[at_] == quote) {
        ++at_;
        return;
      }
    }
    is_broken_ = true;
  }

  void pass_long_string(char quote) {
    const char end[] = {quote, quote, quote};
    const size_t found = text_.find(std::string_view(end, sizeof end), at_ + 2);
    is_broken_ = found == text_.npos;
    at_ = is_broken_ ? text_.size() : found + sizeof end;
  }

  // Tells = and += from == != <= >= and :=.
  void pass_equals() {
    if (at_ < text_.size() && text_[at_] == '=') {
      ++at_;
      return;
    }
    const char before = at_ > 1 ? text_[at_ - 2] : '\0', earlier = at_ > 2 ? text_[at_ - 3] : '\0';
    const bool compares = (before == '<' || before == '>') && earlier != before;
    if (depth_ == 0 && !compares && before != '!' && before != ':') assigns_ = true;
  }

  const std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  bool is_broken_ = false, is_sure_ = true, assigns_ = false;
};

Looks looks_of(std::string_view text) {
  const Outline outline(text);
  if (outline.is_broken() || text.front() == '*' || text.front() == '@') return Looks::kUnclear;
  const bool has_defaults = text.find("lambda") != text.npos;
  const bool is_keyword = begins_with_keyword(text);
  if (!is_keyword && !outline.assigns()) return Looks::kLikeExpression;
  return outline.is_sure() && (is_keyword || !has_defaults) ? Looks::kLikeStatement
                                                            : Looks::kUnclear;
}

}  // namespace

LastStatement last_statement_of(std::string_view source) {
  LastStatement last;
  // Other ends of lines, and what changes how all that follows is read.
  const bool is_usual =
      source.find('\r') == source.npos && source.find("__future__") == source.npos;
  const size_t begin = is_usual ? begin_of_last_line(source) : source.npos;
  const bool goes_on = begin != source.npos && begin > 1 && source[begin - 2] == '\\';
  if (begin == source.npos || goes_on) return last;
  last.begin = begin;
  last.lines = static_cast<size_t>(std::count(source.begin(), source.begin() + begin, '\n'));
  last.looks = looks_of(source.substr(begin));
  return last;
}

}  // namespace shim
