#include "tools/cli/judge/promise.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace cli {
namespace {

constexpr std::string_view kMark = "@EXPECTED_RESULTS@:";

struct Name {
  std::string_view text;
  Word word;
};

// Folders, and results by the names of folders and by those of judging systems.
constexpr Name kNames[] = {
    {"accepted", Word::kAC},
    {"partially_accepted", Word::kPAC},
    {"wrong_answer", Word::kWA},
    {"time_limit_exceeded", Word::kTLE},
    {"run_time_error", Word::kRTE},
    {"memory_limit_exceeded", Word::kMLE},
    {"output_limit_exceeded", Word::kOLE},
    {"compiler_error", Word::kCE},
};
constexpr Name kResults[] = {
    {"correct", Word::kAC},    {"no_output", Word::kWA},     {"timelimit", Word::kTLE},
    {"run_error", Word::kRTE}, {"output_limit", Word::kOLE}, {"memory_limit", Word::kMLE},
};
constexpr std::string_view kAnything = "check_manually";
constexpr size_t kLongest = 40;  // of a name that is none, in an error

template <size_t N>
const Name* find(const Name (&names)[N], std::string_view text) {
  const Name* found =
      std::find_if(names, names + N, [text](const Name& name) { return name.text == text; });
  return found == names + N ? nullptr : found;
}

// In small letters, and with one spelling of WRONG-ANSWER and WRONG_ANSWER.
std::string plain(std::string_view word) {
  std::string text(word);
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
    if (c == '-') c = '_';
  }
  return text;
}

// The next word of a list, whose end is whatever else comes: the end of a comment, say.
std::string_view next_word(std::string_view& list) {
  constexpr std::string_view kOfWords = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-";
  constexpr std::string_view kSpace = " \t\r";
  auto skip_space = [&] {
    list.remove_prefix(std::min(list.find_first_not_of(kSpace), list.size()));
  };
  skip_space();
  std::string_view word = list.substr(0, std::min(list.find_first_not_of(kOfWords), list.size()));
  list.remove_prefix(word.size());
  word = word.substr(0, word.find_last_not_of('-') + 1);  // "-->"
  skip_space();
  if (list.starts_with(',')) {
    list.remove_prefix(1);
  } else {
    list = {};
  }
  return word;
}

}  // namespace

Promise promise_of(std::string_view folder) {
  const Name* name = find(kNames, folder);
  return name == nullptr ? Promise() : Promise{name->word};
}

sys::Result<std::optional<Promise>> promise_in(std::string_view source) {
  const size_t at = source.rfind(kMark);
  if (at == source.npos) return std::optional<Promise>();
  std::string_view list = source.substr(at + kMark.size());
  list = list.substr(0, list.find('\n'));
  Promise promise;
  bool anything = false;
  do {
    const std::string_view word = next_word(list);
    const std::string text = plain(word);
    const Name* name = find(kNames, text);
    if (name == nullptr) name = find(kResults, text);
    anything = anything || text == kAnything;
    if (name == nullptr && text != kAnything)
      return sys::Error::because(
          fmt::format("{} \"{}\" is the name of no result", kMark, word.substr(0, kLongest)));
    if (name != nullptr) promise.push_back(name->word);
  } while (!list.empty());
  return std::optional(anything ? Promise() : promise);
}

std::string text_of(const Promise& promise) {
  if (promise.empty()) return "any";
  std::vector<std::string_view> names;
  for (const Word word : promise) names.push_back(name_of(word));
  return fmt::format("{}", fmt::join(names, " or "));
}

bool keeps(const Promise& promise, Word got) {
  if (got == Word::kJE) return false;
  return promise.empty() || std::any_of(promise.begin(), promise.end(), [got](Word word) {
           return word == got || (word == Word::kRTE && got == Word::kMLE) ||
                  (word == Word::kAC && got == Word::kPAC);
         });
}

}  // namespace cli
