// The text of profiles: ours, and wrong ones.
#include "sandbox/seccomp/profile_parser.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "sandbox/seccomp/profile_words.h"
#include "sandbox/seccomp/syscall_names.h"

using namespace sandbox;

namespace {

using Texts = std::map<std::string, std::string, std::less<>>;

ProfileSource source_of(const Texts& texts) {
  return [&texts](std::string_view name) -> std::optional<std::string_view> {
    auto found = texts.find(name);
    return found == texts.end() ? std::nullopt : std::optional<std::string_view>(found->second);
  };
}

sys::Result<RuleGroups> parsed(const Texts& texts, std::string_view name = "x") {
  return parse_profile(name, source_of(texts));
}

RuleGroups groups(const std::string& body) {
  auto result = parsed({{"x", "profile x\n" + body}});
  if (!result) FAIL(result.error().text());
  return *result;
}

// The error of a profile with this body, whose first line is the file's second.
std::string mistake(const std::string& body) {
  auto result = parsed({{"x", "profile x\n" + body}});
  return result.ok() ? "no error" : result.error().text();
}

constexpr uint64_t kInt = 0xffffffff;

}  // namespace

TEST_CASE("our own profiles parse, and their text is what is parsed", "[policy]") {
  size_t groups_before = 0;
  for (Profile profile :
       {Profile::kPure, Profile::kDefault, Profile::kSubprocess, Profile::kBuild}) {
    const sys::Result<RuleGroups>& ours = rules_of(profile);
    if (!ours) FAIL(ours.error().text());
    // Those of build are the ones that it extends.
    CHECK(ours->size() > groups_before - (profile == Profile::kBuild ? 1 : 0));
    groups_before = ours->size();

    auto again = parse_profile(name_of(profile), [](std::string_view name) {
      auto known = profile_named(name);
      return known ? std::optional(profile_text(*known)) : std::nullopt;
    });
    REQUIRE(again.ok());
    CHECK(again->size() == ours->size());
    CHECK(profile_text(profile).find("\nprofile " + std::string(name_of(profile)) + "\n") !=
          std::string_view::npos);
  }
}

TEST_CASE("a group has a treatment, a reason, and calls by name and number", "[policy]") {
  RuleGroups all = groups(
      "# a comment\n\n"
      "allow: reading  # and more\n  read write\n    close\n"
      "quiet ENOSYS: new ones\n  clone3\n"
      "quiet 0: pretended\n  sync\n"
      "notify: never\n  mount\n");

  REQUIRE(all.size() == 4);
  CHECK(all[0].treatment == Treatment::kAllow);
  CHECK(all[0].why == "reading");
  CHECK(all[0].file == "x.policy");
  CHECK(all[0].line == 4);
  REQUIRE(all[0].rules.size() == 3);
  CHECK(all[0].rules[2].call == "close");
  CHECK(all[0].rules[2].number == call_number("close").value);
  CHECK(all[0].rules[2].when.empty());
  CHECK(all[1].treatment == Treatment::kQuiet);
  CHECK(all[1].error == ENOSYS);
  CHECK(all[2].treatment == Treatment::kQuiet);
  CHECK(all[2].error == 0);
  CHECK(all[3].treatment == Treatment::kNotify);
}

TEST_CASE("conditions compare 32 bits, bits of a mask, or a whole pointer", "[policy]") {
  RuleGroups all = groups(
      "allow: a\n"
      "  prctl arg0 == PR_SET_NAME\n"
      "  openat arg2 & O_ACCMODE|0x40 == 0\n"
      "  sendto arg4 == NULL\n"
      "  clone3 arg0 == 0x6f0000000020 and arg1 == 80\n"
      "  clone3 arg0 != 0x6f0000000020\n"
      "  socketpair arg0 == AF_UNIX and arg1 & SOCK_TYPE_MASK == SOCK_STREAM\n"
      "  setsockopt arg1 == 1 and arg2 in SO_LINGER 8\n");

  const std::vector<Rule>& rules = all.at(0).rules;
  using When = std::vector<Condition>;
  REQUIRE(rules.size() == 8);
  CHECK(rules[0].when == When{{0, kInt, 15}});
  CHECK(rules[1].when == When{{2, 0x43, 0}});
  CHECK(rules[2].when == When{{4, ~uint64_t{0}, 0}});
  CHECK(rules[3].when == When{{0, ~uint64_t{0}, 0x6f0000000020}, {1, kInt, 80}});
  CHECK(rules[4].when == When{{0, ~uint64_t{0}, 0x6f0000000020, true}});
  CHECK(rules[5].when == When{{0, kInt, 1}, {1, 0xf, 1}});
  CHECK(rules[6].when == When{{1, kInt, 1}, {2, kInt, 13}});
  CHECK(rules[7].when == When{{1, kInt, 1}, {2, kInt, 8}});
}

TEST_CASE("'set' makes a word, also for those that extend the file", "[policy]") {
  const Texts texts = {
      {"x", "profile x\nextends base\nset BOTH = ONE|2\nallow: b\n  prctl arg0 == BOTH\n"},
      {"base", "profile base\nset ONE = 1\nallow: a\n  dup arg0 == ONE\n"},
  };

  auto all = parsed(texts);

  REQUIRE(all.ok());
  REQUIRE(all->size() == 2);
  CHECK(all->at(0).file == "base.policy");
  CHECK(all->at(0).rules[0].when[0].value == 1);
  CHECK(all->at(1).file == "x.policy");
  CHECK(all->at(1).rules[0].when[0].value == 3);
}

TEST_CASE("groups may belong to some variants of the filter", "[policy]") {
  RuleGroups all = groups(
      "allow when dumpable: a\n  read\n"
      "allow unless shared_uid: b\n  kill\n"
      "quiet EPERM when shared_uid: c\n  kill\n");
  FilterVariant open;
  open.dumpable = true;
  FilterVariant shared;
  shared.shared_uid = true;

  REQUIRE(all.size() == 3);
  CHECK(!applies(all[0], {}));
  CHECK(applies(all[0], open));
  CHECK(applies(all[1], {}));
  CHECK(!applies(all[1], shared));

  const uint64_t args[6] = {};
  const int kill = call_number("kill").value;
  CHECK(settle(all, {}, kill, args) == Settled{Treatment::kAllow, 0});
  CHECK(settle(all, shared, kill, args) == Settled{Treatment::kQuiet, EPERM});
}

TEST_CASE("a mistake is reported with file, line and what was expected", "[policy]") {
  CHECK(mistake("alow: a\n") ==
        "x.policy:2: expected 'allow', 'quiet ERRNO', 'notify' or 'set', found 'alow'");
  CHECK(mistake("allow\n  read\n") == "x.policy:2: expected ':' and a reason, found nothing");
  CHECK(mistake("allow:\n  read\n") == "x.policy:2: expected a reason behind ':', found nothing");
  CHECK(mistake("quiet: a\n  read\n") ==
        "x.policy:2: expected the name of an errno or 0 behind 'quiet', found nothing");
  CHECK(mistake("quiet ENOTHING: a\n  read\n") ==
        "x.policy:2: expected the name of an errno or 0 behind 'quiet', found 'ENOTHING'");
  CHECK(mistake("allow when rich: a\n  read\n") ==
        "x.policy:2: expected count_processes, count_memfds, count_pipes, shared_uid, dumpable, "
        "shared_files, makes_code, borrows_memory or shared_pids, found 'rich'");
  CHECK(mistake("allow always: a\n  read\n") ==
        "x.policy:2: expected 'when', 'unless' or ':', found 'always'");
  CHECK(mistake("allow: a\nallow: b\n  read\n") == "x.policy:2: a group without calls");
  CHECK(mistake("allow: a\n  read\nallow: b\n\n") == "x.policy:4: a group without calls");
  CHECK(mistake("  read\n") == "x.policy:2: calls before any 'allow', 'quiet' or 'notify'");
  CHECK(mistake("allow: a\n  read\n  opnat\n") ==
        "x.policy:4: expected a system call of some architecture, found 'opnat'");
  CHECK(mistake("allow: a\n\tread\n") ==
        "x.policy:3: a tab or carriage return; only spaces and line feeds divide words");
}

TEST_CASE("a mistake in a condition is reported so, too", "[policy]") {
  const auto in_condition = [](const std::string& condition) {
    std::string text = mistake("allow: a\n  prctl " + condition + "\n");
    return text.starts_with("x.policy:3: ") ? text.substr(12) : text;
  };
  CHECK(in_condition("arg0 = 1") == "expected '==', '!=', 'in' or '&', found '='");
  CHECK(in_condition("arg0 ==") == "expected a known word or a number of 32 bits, found nothing");
  CHECK(in_condition("arg0 == PR_NAME") ==
        "expected a known word or a number of 32 bits, found 'PR_NAME'");
  CHECK(in_condition("arg0 == 0x10000000000000000") ==
        "expected a known word or a number of 32 bits, found '0x10000000000000000'");
  CHECK(in_condition("arg0 in 0x100000000") ==
        "expected a known word or a number of 32 bits, found '0x100000000'");
  CHECK(in_condition("arg0 != 5") == "expected NULL or an address of more than 32 bits, found '5'");
  CHECK(in_condition("arg0 == 1|") ==
        "expected a known word or a number of 32 bits, found nothing");
  CHECK(in_condition("arg0 == 0x") == "expected a known word or a number of 32 bits, found '0x'");
  CHECK(in_condition("arg0 == 1 or arg1 == 2") ==
        "expected 'and' or the end of the line, found 'or'");
  CHECK(in_condition("arg0 == 1 and arg6 == 2") == "expected arg0 to arg5, found 'arg6'");
  CHECK(in_condition("arg0 == 1 and arg0 == 2") == "a second condition on arg0");
  CHECK(in_condition("arg0 in") == "expected words behind 'in', found nothing");
  CHECK(in_condition("arg0 & 3 in 1 2") == "expected '==' behind the mask, found 'in'");
  CHECK(in_condition("arg0 & 3 == 4") == "expected bits of the mask only, found '4'");
  CHECK(in_condition("arg0 & 0 == 0") == "a mask without bits holds always");
  CHECK(in_condition("arg0 & NULL == 0") ==
        "expected a known word or a number of 32 bits, found 'NULL'");
}

TEST_CASE("a profile says its own name, and extends what exists, not itself", "[policy]") {
  const auto error = [](const Texts& texts) {
    auto result = parsed(texts);
    return result.ok() ? "no error" : result.error().text();
  };
  CHECK(error({}) == "no profile is called 'x'");
  CHECK(error({{"x", ""}}) == "x.policy:0: expected 'profile x', found nothing");
  CHECK(error({{"x", "# x\nprofile y\n"}}) ==
        "x.policy:2: expected 'profile x', found 'profile y'");
  CHECK(error({{"x", "profile x\nextends\n"}}) ==
        "x.policy:2: expected a profile behind 'extends', found nothing");
  CHECK(error({{"x", "profile x\nextends y\n"}}) == "no profile is called 'y'");
  CHECK(error({{"x", "profile x\nextends x\n"}}) ==
        "x.policy: it extends itself, by way of others");
  CHECK(error({{"x", "profile x\nallow: a\n  read\nextends y\n"}}) ==
        "x.policy:4: expected ':' and a reason, found nothing");
}

TEST_CASE("words have one meaning", "[policy]") {
  CHECK(mistake("set O_CREAT = 1\n") == "x.policy:2: 'O_CREAT' has a meaning already");
  CHECK(mistake("set A = 1\nset A = 1\n") == "x.policy:3: 'A' has a meaning already");
  CHECK(mistake("set 7 = 1\n") == "x.policy:2: expected a new word behind 'set', found '7'");
  CHECK(mistake("set A 1\n") == "x.policy:2: expected '=', found '1'");
  CHECK(mistake("set A = 1 2\n") == "x.policy:2: expected the end of the line, found '2'");
}

TEST_CASE("a rule that another one makes void is a mistake", "[policy]") {
  CHECK(mistake("allow: a\n  read\nquiet EPERM: b\n  read\n") ==
        "x.policy:4: 'read' is settled already, by the group of x.policy:2");
  CHECK(mistake("allow: a\n  read arg0 == 1\nallow: b\n  read\n") ==
        "x.policy:4: 'read' is settled already, by the group of x.policy:2");
  CHECK(mistake("allow: a\n  read arg0 == 1\nallow: b\n  read arg0 == 1\n") ==
        "x.policy:4: 'read' is settled already, by the group of x.policy:2");
  CHECK(mistake("allow: a\n  read\nnotify: b\n  read\n") ==
        "x.policy:4: 'read' is settled already, by the group of x.policy:2");
  CHECK(mistake("allow: a\n  read arg0 == 1\nnotify: b\n  read\n") == "no error");
  CHECK(mistake("allow when dumpable: a\n  read\nquiet EPERM unless dumpable: b\n  read\n") ==
        "no error");
  CHECK(mistake("allow when dumpable: a\n  read\nquiet EPERM when shared_uid: b\n  read\n") ==
        "x.policy:4: 'read' is settled already, by the group of x.policy:2");
}

TEST_CASE("calls of other architectures and of newer kernels are known", "[policy]") {
  RuleGroups all = groups("allow: a\n  _llseek mseal getxattrat read\n");

  REQUIRE(all.at(0).rules.size() == 4);
  CHECK(all[0].rules[1].number == 462);
  CHECK(all[0].rules[2].number == 464);
  const uint64_t args[6] = {};
  CHECK(settle(all, {}, -1, args).treatment == Treatment::kNotify);
}

TEST_CASE("words and errnos have the values of the headers", "[policy]") {
  CHECK(word_value("PR_SET_NAME") == 15);
  CHECK(word_value("CLONE_NEWUSER") == 0x10000000);
  CHECK(word_value("PIDFD_SELF_THREAD_GROUP") == 0xffffd8f0);
  CHECK(!word_value("pr_set_name"));
  CHECK(!word_value(""));
  CHECK(errno_named("ENOSYS") == ENOSYS);
  CHECK(errno_named("EHWPOISON") == 133);
  CHECK(!errno_named("0"));
  CHECK(!errno_named("EVERY"));
}
