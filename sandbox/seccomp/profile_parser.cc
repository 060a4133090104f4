#include "sandbox/seccomp/profile_parser.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "sandbox/seccomp/profile_words.h"
#include "sandbox/seccomp/syscall_names.h"

namespace sandbox {
namespace {

using Words = std::map<std::string, uint32_t, std::less<>>;  // made by `set`
using sys::Error;
using sys::Result;

constexpr int kMostArguments = 6;
constexpr size_t kMostFiles = 16;  // of a chain of `extends`; a longer one goes in circles

// ---- a line ------------------------------------------------------------------------------------

bool is_blank(char c) { return c == ' '; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Takes the next word off `text`; empty when there is none.
std::string_view next_word(std::string_view& text) {
  text = trimmed(text);
  std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  return word;
}

struct Place {
  std::string file;
  int line = 0;

  Error expected(std::string_view what, std::string_view found) const {
    std::string instead = found.empty() ? "nothing" : "'" + std::string(found) + "'";
    return wrong("expected " + std::string(what) + ", found " + instead);
  }
  Error wrong(std::string_view what) const {
    return Error::because(file + ":" + std::to_string(line) + ": " + std::string(what));
  }
};

// ---- values ------------------------------------------------------------------------------------

template <typename Number = uint32_t>
std::optional<Number> number(std::string_view text) {
  int base = text.starts_with("0x") ? 16 : 10;
  if (base == 16) text.remove_prefix(2);
  Number value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<uint32_t> bits(const Place& place, const Words& words, std::string_view text) {
  uint32_t value = 0;
  for (bool more = true; more;) {
    size_t bar = text.find('|');
    std::string_view one = text.substr(0, bar);
    std::optional<uint32_t> known = number(one);
    if (!known) known = word_value(one);
    if (auto own = words.find(one); !known && own != words.end()) known = own->second;
    if (!known) return place.expected("a known word or a number of 32 bits", one);
    value |= *known;
    more = bar != std::string_view::npos;
    if (more) text.remove_prefix(bar + 1);
  }
  return value;
}

// ---- conditions --------------------------------------------------------------------------------

std::optional<uint8_t> argument(std::string_view word) {
  if (word.size() != 4 || !word.starts_with("arg")) return std::nullopt;
  int index = word[3] - '0';
  if (index < 0 || index >= kMostArguments) return std::nullopt;
  return static_cast<uint8_t>(index);
}

constexpr uint64_t kInt = 0xffffffff;  // the kernel reads the argument as a 32-bit integer

constexpr uint64_t kPointer = ~uint64_t{0};

std::optional<uint64_t> pointer(std::string_view word) {
  if (word == "NULL") return 0;
  const auto address = number<uint64_t>(word);
  return address > kInt ? address : std::nullopt;
}

Result<Condition> equal_to(const Place& place, const Words& words, uint8_t arg,
                           std::string_view& text) {
  std::string_view value = next_word(text);
  if (const auto address = pointer(value)) return Condition{arg, kPointer, *address};
  return Condition{arg, kInt, TRY(bits(place, words, value))};
}

Result<Condition> not_equal_to(const Place& place, uint8_t arg, std::string_view& text) {
  const std::string_view value = next_word(text);
  const auto address = pointer(value);
  if (!address) return place.expected("NULL or an address of more than 32 bits", value);
  return Condition{arg, kPointer, *address, true};
}

Result<Condition> masked(const Place& place, const Words& words, uint8_t arg,
                         std::string_view& text) {
  uint32_t mask = TRY(bits(place, words, next_word(text)));
  std::string_view relation = next_word(text);
  if (relation != "==") return place.expected("'==' behind the mask", relation);
  std::string_view written = next_word(text);
  uint32_t value = TRY(bits(place, words, written));
  if (mask == 0) return place.wrong("a mask without bits holds always");
  if ((value & ~mask) != 0) return place.expected("bits of the mask only", written);
  return Condition{arg, mask, value};
}

// The alternatives of one line: rules that share all but the condition of an `in`.
using Alternatives = std::vector<std::vector<Condition>>;

Result<Alternatives> one_of(const Place& place, const Words& words, uint8_t arg,
                            std::string_view& text, const std::vector<Condition>& so_far) {
  Alternatives out;
  for (std::string_view word = next_word(text); !word.empty(); word = next_word(text)) {
    out.push_back(so_far);
    out.back().push_back({arg, kInt, TRY(bits(place, words, word))});
  }
  if (out.empty()) return place.expected("words behind 'in'", "");
  return out;
}

Result<Alternatives> conditions(const Place& place, const Words& words, std::string_view text) {
  std::vector<Condition> all;
  for (;;) {
    std::string_view name = next_word(text);
    std::optional<uint8_t> arg = argument(name);
    if (!arg) return place.expected("arg0 to arg5", name);
    if (std::ranges::count(all, *arg, &Condition::arg) != 0) {
      return place.wrong("a second condition on " + std::string(name));
    }
    std::string_view relation = next_word(text);
    if (relation == "in") return one_of(place, words, *arg, text, all);
    if (relation == "==") {
      all.push_back(TRY(equal_to(place, words, *arg, text)));
    } else if (relation == "!=") {
      all.push_back(TRY(not_equal_to(place, *arg, text)));
    } else if (relation == "&") {
      all.push_back(TRY(masked(place, words, *arg, text)));
    } else {
      return place.expected("'==', '!=', 'in' or '&'", relation);
    }
    std::string_view joint = next_word(text);
    if (joint.empty()) return Alternatives{all};
    if (joint != "and") return place.expected("'and' or the end of the line", joint);
  }
}

// ---- groups ------------------------------------------------------------------------------------

constexpr struct {
  std::string_view name;
  bool FilterVariant::*flag;
} kFlags[] = {
    {"count_processes", &FilterVariant::count_processes},
    {"count_memfds", &FilterVariant::count_memfds},
    {"count_pipes", &FilterVariant::count_pipes},
    {"shared_uid", &FilterVariant::shared_uid},
    {"dumpable", &FilterVariant::dumpable},
    {"shared_files", &FilterVariant::shared_files},
    {"makes_code", &FilterVariant::makes_code},
    {"borrows_memory", &FilterVariant::borrows_memory},
    {"shared_pids", &FilterVariant::shared_pids},
};

Result<Circumstance> circumstance(const Place& place, std::string_view word,
                                  std::string_view flag) {
  for (const auto& known : kFlags) {
    if (flag == known.name) return Circumstance{known.flag, word == "when"};
  }
  return place.expected(
      "count_processes, count_memfds, count_pipes, shared_uid, dumpable, shared_files, makes_code, "
      "borrows_memory or shared_pids",
      flag);
}

Result<void> read_treatment(const Place& place, std::string_view& text, RuleGroup* group) {
  std::string_view word = next_word(text);
  if (word == "allow") {
    group->treatment = Treatment::kAllow;
  } else if (word == "notify") {
    group->treatment = Treatment::kNotify;
  } else if (word == "quiet") {
    group->treatment = Treatment::kQuiet;
    std::string_view name = next_word(text);
    std::optional<int> error = name == "0" ? 0 : errno_named(name);
    if (!error) return place.expected("the name of an errno or 0 behind 'quiet'", name);
    group->error = *error;
  } else {
    return place.expected("'allow', 'quiet ERRNO', 'notify' or 'set'", word);
  }
  return {};
}

// "quiet ENOSYS unless shared_uid: why"
Result<RuleGroup> group_header(const Place& place, std::string_view text) {
  size_t colon = text.find(':');
  if (colon == std::string_view::npos) return place.expected("':' and a reason", "");
  RuleGroup group;
  group.file = place.file;
  group.line = place.line;
  group.why = trimmed(text.substr(colon + 1));
  if (group.why.empty()) return place.expected("a reason behind ':'", "");
  text = text.substr(0, colon);
  TRY(read_treatment(place, text, &group));
  std::string_view word = next_word(text);
  while (word == "when" || word == "unless") {
    group.circumstances.push_back(TRY(circumstance(place, word, next_word(text))));
    word = next_word(text);
  }
  if (!word.empty()) return place.expected("'when', 'unless' or ':'", word);
  return group;
}

Result<Rule> rule_for(const Place& place, std::string_view call) {
  CallNumber known = call_number(std::string(call).c_str());
  if (!known.known) return place.expected("a system call of some architecture", call);
  return Rule{std::string(call), known.value, {}};
}

Result<void> read_rules(const Place& place, const Words& words, std::string_view text,
                        RuleGroup* group) {
  std::string_view first = next_word(text);
  std::string_view rest = text;
  if (argument(next_word(rest))) {
    for (std::vector<Condition>& when : TRY(conditions(place, words, text))) {
      group->rules.push_back(TRY(rule_for(place, first)));
      group->rules.back().when = std::move(when);
    }
    return {};
  }
  for (std::string_view call = first; !call.empty(); call = next_word(text)) {
    group->rules.push_back(TRY(rule_for(place, call)));
  }
  return {};
}

// ---- a file ------------------------------------------------------------------------------------

struct File {
  std::string_view extends;
  RuleGroups groups;
};

class Reader {
 public:
  Reader(std::string_view name, std::string_view text, Words* words)
      : name_(name), text_(text), words_(words), place_{std::string(name) + ".policy", 0} {}

  // The first lines: whose file it is, and what it builds on.
  Result<void> read_head() {
    std::string_view line = next_line();
    std::string_view rest = line;
    if (next_word(rest) != "profile" || trimmed(rest) != name_) {
      return place_.expected("'profile " + std::string(name_) + "'", line);
    }
    std::string_view mark = text_;
    int number = place_.line;
    line = next_line();
    if (next_word(line) == "extends") {
      file_.extends = trimmed(line);
      if (file_.extends.empty()) return place_.expected("a profile behind 'extends'", "");
    } else {
      text_ = mark;
      place_.line = number;
    }
    return {};
  }

  std::string_view extends() const { return file_.extends; }

  Result<RuleGroups> read_groups() {
    for (std::string_view line = next_line(); !line.empty(); line = next_line()) {
      if (line.find_first_of("\t\r") != std::string_view::npos) {
        return place_.wrong("a tab or carriage return; only spaces and line feeds divide words");
      }
      if (is_blank(line.front())) {
        if (file_.groups.empty())
          return place_.wrong("calls before any 'allow', 'quiet' or 'notify'");
        TRY(read_rules(place_, *words_, line, &file_.groups.back()));
        continue;
      }
      std::string_view rest = line;
      if (next_word(rest) == "set") {
        TRY(read_set(rest));
        continue;
      }
      TRY(check_last_group());
      file_.groups.push_back(TRY(group_header(place_, line)));
    }
    TRY(check_last_group());
    return std::move(file_.groups);
  }

 private:
  // The next line that says something, without comment and trailing blanks; empty at the end.
  std::string_view next_line() {
    while (!text_.empty()) {
      size_t end = std::min(text_.find('\n'), text_.size());
      std::string_view line = text_.substr(0, end);
      text_.remove_prefix(std::min(end + 1, text_.size()));
      ++place_.line;
      line = line.substr(0, line.find('#'));
      while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
      if (!line.empty()) return line;
    }
    return {};
  }

  // "set NAME = WORDS"
  Result<void> read_set(std::string_view text) {
    std::string_view name = next_word(text);
    if (name.empty() || number(name) || name.find_first_of("|=:") != std::string_view::npos) {
      return place_.expected("a new word behind 'set'", name);
    }
    if (word_value(name) || words_->contains(name)) {
      return place_.wrong("'" + std::string(name) + "' has a meaning already");
    }
    std::string_view sign = next_word(text);
    if (sign != "=") return place_.expected("'='", sign);
    uint32_t value = TRY(bits(place_, *words_, next_word(text)));
    if (!trimmed(text).empty()) return place_.expected("the end of the line", trimmed(text));
    words_->emplace(name, value);
    return {};
  }

  Result<void> check_last_group() const {
    if (file_.groups.empty() || !file_.groups.back().rules.empty()) return {};
    const RuleGroup& empty = file_.groups.back();
    return Place{empty.file, empty.line}.wrong("a group without calls");
  }

  std::string_view name_;
  std::string_view text_;
  Words* words_;
  Place place_;
  File file_;
};

Result<RuleGroups> read_chain(std::string_view name, const ProfileSource& source, Words* words,
                              size_t depth) {
  std::optional<std::string_view> text = source(name);
  if (!text) return Error::because("no profile is called '" + std::string(name) + "'");
  if (depth == kMostFiles) {
    return Error::because(std::string(name) + ".policy: it extends itself, by way of others");
  }
  Reader reader(name, *text, words);
  RuleGroups groups;
  TRY(reader.read_head());
  if (!reader.extends().empty()) {
    groups = TRY(read_chain(reader.extends(), source, words, depth + 1));
  }
  RuleGroups own = TRY(reader.read_groups());
  std::ranges::move(own, std::back_inserter(groups));
  return groups;
}

// ---- rules that make others void ---------------------------------------------------------------

// Whether some variant has both.
bool meet(const RuleGroup& a, const RuleGroup& b) {
  return std::ranges::all_of(a.circumstances, [&](const Circumstance& x) {
    return std::ranges::none_of(b.circumstances, [&](const Circumstance& y) {
      return x.flag == y.flag && x.expected != y.expected;
    });
  });
}

bool contradict(const RuleGroup& a, const Rule& x, const RuleGroup& b, const Rule& y) {
  bool asked = a.treatment == Treatment::kNotify || b.treatment == Treatment::kNotify;
  // Profiles that extend one may settle what it notifies; it may settle some arguments itself.
  if (asked && (a.file != b.file || x.when.empty() != y.when.empty())) return false;
  return meet(a, b) && (x.when.empty() || y.when.empty() || x.when == y.when);
}

Result<void> check_contradictions(const RuleGroups& groups) {
  std::map<std::string_view, std::vector<std::pair<const RuleGroup*, const Rule*>>> seen;
  for (const RuleGroup& group : groups) {
    for (const Rule& rule : group.rules) {
      auto& others = seen[rule.call];
      for (const auto& [other_group, other] : others) {
        if (!contradict(*other_group, *other, group, rule)) continue;
        return Place{group.file, group.line}.wrong(
            "'" + rule.call + "' is settled already, by the group of " + other_group->file + ":" +
            std::to_string(other_group->line));
      }
      others.emplace_back(&group, &rule);
    }
  }
  return {};
}

}  // namespace

Result<RuleGroups> parse_profile(std::string_view name, const ProfileSource& source) {
  Words words;
  RuleGroups groups = TRY(read_chain(name, source, &words, 0));
  TRY(check_contradictions(groups));
  return groups;
}

}  // namespace sandbox
