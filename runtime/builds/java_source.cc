#include "runtime/builds/java_source.h"

#include <algorithm>
#include <optional>

#include "runtime/values/utf8.h"

namespace runtime {

namespace {

constexpr size_t kLongestName = 200;  // of a file, with its ending

bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Words and single signs; what stands in comments and literals is neither.
class Words {
 public:
  explicit Words(std::string_view source) : left_(source) {}

  // Empty: the end.
  std::string_view next() {
    while (!left_.empty()) {
      if (skip_comment() || skip_text_block() || skip_literal('"') || skip_literal('\'')) continue;
      const char c = left_.front();
      if (begins_name(c) || is_digit(c)) return take(length_of_name());
      if (c > ' ') return take(1);
      left_.remove_prefix(1);
    }
    return {};
  }

 private:
  std::string_view take(size_t length) {
    const std::string_view word = left_.substr(0, length);
    left_.remove_prefix(length);
    return word;
  }
  size_t length_of_name() const {
    const auto end =
        std::ranges::find_if_not(left_, [](char c) { return begins_name(c) || is_digit(c); });
    return static_cast<size_t>(end - left_.begin());
  }
  bool skip_past(std::string_view begin, std::string_view end) {
    if (!left_.starts_with(begin)) return false;
    const size_t at = left_.find(end, begin.size());
    left_.remove_prefix(at == left_.npos ? left_.size() : at + end.size());
    return true;
  }
  bool skip_comment() { return skip_past("//", "\n") || skip_past("/*", "*/"); }
  bool skip_text_block() {
    if (!left_.starts_with(R"(""")")) return false;
    left_.remove_prefix(3);
    while (!left_.empty() && !left_.starts_with(R"(""")"))
      left_.remove_prefix(std::min<size_t>(left_.front() == '\\' ? 2 : 1, left_.size()));
    left_.remove_prefix(std::min<size_t>(3, left_.size()));
    return true;
  }
  // On one line.
  bool skip_literal(char quote) {
    if (left_.front() != quote) return false;
    left_.remove_prefix(1);
    while (!left_.empty() && left_.front() != quote && left_.front() != '\n')
      left_.remove_prefix(std::min<size_t>(left_.front() == '\\' ? 2 : 1, left_.size()));
    if (!left_.empty()) left_.remove_prefix(1);
    return true;
  }

  std::string_view left_;
};

bool is_name(std::string_view word) {
  return !word.empty() && begins_name(word.front()) && word.size() <= kLongestName;
}

struct Type {
  std::string_view name;
  bool is_public = false, has_main = false;
};

// One pass; the types at the top, and the package.
class JavaReader {
 public:
  explicit JavaReader(std::string_view source) : words_(source) {}

  void read() {
    for (std::string_view word = words_.next(); !word.empty(); word = words_.next()) take(word);
  }

  std::string package;
  std::optional<Type> main, named;  // the program; what the file must be called after

 private:
  void take(std::string_view word) {
    if (word == "(") ++parentheses_;
    if (word == ")") parentheses_ -= parentheses_ > 0;
    if (word == "{") return open();
    if (word == "}") return close();
    if (parentheses_ > 0 && word != "(") return;
    if (depth_ == 0) at_top(word);
    if (depth_ == 1) in_type(word);
    before_ = last_;
    last_ = word;
  }

  void open() {
    ++depth_;
    forget();
  }

  void close() {
    if (depth_ > 0 && --depth_ == 0) finish();
    forget();
  }

  void forget() {
    public_ = static_ = false;
    last_ = before_ = {};
    parentheses_ = 0;
  }

  void at_top(std::string_view word) {
    const bool declares =
        last_ == "class" || last_ == "interface" || last_ == "enum" || last_ == "record";
    if (word == ";") {
      reads_package_ = false;
      forget();
    } else if (word == "package") {
      reads_package_ = true;
    } else if (reads_package_) {
      if (word == "." || is_name(word)) package += word;
    } else if (word == "public") {
      public_ = true;
    } else if (declares && is_name(word) && type_.name.empty()) {
      type_ = {word, public_, false};
    }
  }

  // static void main(
  void in_type(std::string_view word) {
    if (word == ";") {
      forget();
    } else if (word == "static") {
      static_ = true;
    } else if (word == "(" && last_ == "main" && before_ == "void" && static_) {
      type_.has_main = true;
    }
  }

  void finish() {
    if (type_.name.empty()) return;
    if (type_.has_main && (!main || (type_.is_public && !main->is_public))) main = type_;
    if (type_.is_public && !named) named = type_;
    type_ = {};
  }

  Words words_;
  Type type_;
  size_t depth_ = 0, parentheses_ = 0;
  bool public_ = false, static_ = false, reads_package_ = false;
  std::string_view last_, before_;
};

}  // namespace

JavaProgram java_program_in(std::string_view source) {
  JavaReader reader(source);
  reader.read();
  JavaProgram program;
  const std::optional<Type>& named = reader.named ? reader.named : reader.main;
  if (named) program.file = std::string(named->name) + ".java";
  program.has_main = reader.main.has_value();
  const std::optional<Type>& main = reader.main ? reader.main : reader.named;
  if (main) program.main_class = main->name;
  if (!reader.package.empty() && reader.package.size() <= kLongestName)
    program.main_class = reader.package + "." + program.main_class;
  return program;
}

}  // namespace runtime
