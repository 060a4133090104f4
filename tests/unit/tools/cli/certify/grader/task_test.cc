#include "tools/cli/certify/grader/task.h"

#include <catch2/catch.hpp>
#include <set>

namespace cli {
namespace {

const char* const kTask =
    "#: kind function\n#: entry f\n#: locals total\n#: prompt\nAdds.\n#: check\ndef check(c):\n"
    "    assert c(1) == 2\n#: honest plain\ndef f(a):\n    total = a + 1\n    return total\n"
    "#: wrong minus\ndef f(a):\n    return a - 1\n";

std::string without(std::string text, const std::string& part) {
  const size_t at = text.find(part);
  REQUIRE(at != text.npos);
  return text.erase(at, part.size());
}

GraderTask some_task() {
  auto task = parse_task("add_one", kTask);
  REQUIRE(task.ok());
  return *task;
}

}  // namespace

TEST_CASE("a task's sections become its parts", "[cli][grader]") {
  const GraderTask task = some_task();

  CHECK(task.entry == "f");
  CHECK(task.prompt == "Adds.\n");
  CHECK(task.locals == std::vector<std::string>{"total"});
  CHECK(task.honest.front().source == "def f(a):\n    total = a + 1\n    return total\n");
  CHECK(task.wrong.front().name == "minus");
  CHECK(test_file_of(task) ==
        "from solution import f\n\n\ndef check(c):\n    assert c(1) == 2\n\n\n"
        "def test_add_one():\n    check(f)\n");
}

TEST_CASE("a task that lacks a part is refused", "[cli][grader]") {
  CHECK_FALSE(parse_task("t", without(kTask, "#: entry f\n")).ok());
  CHECK_FALSE(parse_task("t", without(kTask, "#: prompt\nAdds.\n")).ok());
  CHECK_FALSE(parse_task("t", without(kTask, "#: kind ")).ok());
  CHECK_FALSE(parse_task("t", without(kTask, "#: honest plain\n")).ok());
  CHECK_FALSE(parse_task("t", std::string("print(1)\n") + kTask).ok());
  CHECK_FALSE(parse_task("t", std::string(kTask) + "#: rubbish\n").ok());
}

TEST_CASE("a template's head is its description, kinds and needs", "[cli][grader]") {
  const auto form =
      parse_template("x", "# says hello\n# kinds: class\n# needs: fence\n# PROGRAM\n");
  REQUIRE(form.ok());
  CHECK(form->description == "says hello");
  CHECK(form->kinds == std::vector{TaskKind::kClass});
  CHECK(form->needs_fence);
  CHECK(form->text == "# PROGRAM\n");

  CHECK_FALSE(parse_template("x", "print(1)\n").ok());
  CHECK_FALSE(parse_template("x", "# a\n# kinds: novel\n").ok());
  CHECK_FALSE(parse_template("x", "# a\n# needs: luck\n").ok());
}

TEST_CASE("a template is filled with a program and the name of its entry point", "[cli][grader]") {
  const auto form = parse_template("x", "# wraps\n# PROGRAM\nENTRY = wrap(ENTRY, \"MY_ENTRY\")\n");
  REQUIRE(form.ok());

  CHECK(fill_template(*form, some_task(), "def f(a): pass\n") ==
        "def f(a): pass\nf = wrap(f, \"MY_ENTRY\")\n");
}

TEST_CASE("only whole words are renamed", "[cli][grader]") {
  CHECK(rename_words("a = ab + a.a + _a", {"a", "ab"}, {"x", "y"}) == "x = y + x.x + _a");
}

TEST_CASE("every built-in task can be tried, and each exploit says what it does", "[cli][grader]") {
  const GraderCorpus& corpus = grader_corpus();
  CHECK(corpus.tasks.size() >= 12);
  CHECK(corpus.exploits.size() >= 50);
  for (const GraderTask& task : corpus.tasks) {
    CAPTURE(task.name);
    CHECK(task.honest.front().name == "plain");
    CHECK(task.honest.size() >= 3);
    CHECK(task.wrong.size() >= 2);
    for (const std::string& local : task.locals)
      CHECK(rename_words(task.honest.front().source, {local}, {"?"}).find('?') !=
            std::string::npos);
  }
  std::set<std::string> names;
  for (const auto* forms : {&corpus.exploits, &corpus.variants}) {
    for (const ProgramTemplate& each : *forms) {
      CAPTURE(each.name);
      CHECK(names.insert(each.name).second);
      CHECK(each.text.find("# LIAR\n") == std::string::npos);
      CHECK(each.text.find("# ORACLE\n") == std::string::npos);
      const bool has_program = each.text.find("# PROGRAM\n") != std::string::npos;
      const bool is_entry = each.text.find("ENTRY(") != std::string::npos;
      CHECK((has_program || is_entry));
    }
  }
}

}  // namespace cli
