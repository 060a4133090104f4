#include <optional>
#include <utility>

#include "service/apis/judge0/request.h"

namespace service::judge0 {

namespace {

constexpr std::string_view kLeftOut = "$&;<>|`";
constexpr std::string_view kBlanks = " \t\r\n";

bool is_one_of(std::string_view set, char each) { return set.find(each) != set.npos; }

// The words that are complete, and the one that is being read.
struct Words {
  std::vector<std::string> complete;
  std::optional<std::string> word;  // "" in quotes is one, too

  void add(char each) {
    if (!word) word.emplace();
    *word += each;
  }
  void end() {
    if (word) complete.push_back(*std::exchange(word, std::nullopt));
  }
};

}  // namespace

std::vector<std::string> words_in(std::string_view line) {
  Words words;
  char quote = 0;
  for (size_t at = 0; at < line.size(); ++at) {
    const char each = line[at];
    if (is_one_of(kLeftOut, each)) continue;
    if (each == quote) {
      quote = 0;
    } else if (quote == 0 && (each == '"' || each == '\'')) {
      quote = each;
      if (!words.word) words.word.emplace();
    } else if (each == '\\' && quote != '\'' && at + 1 < line.size()) {
      words.add(line[++at]);
    } else if (quote == 0 && is_one_of(kBlanks, each)) {
      words.end();
    } else {
      words.add(each);
    }
  }
  words.end();
  return std::move(words.complete);
}

}  // namespace service::judge0
