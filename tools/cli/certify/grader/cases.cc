#include "tools/cli/certify/grader/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "tools/cli/certify/dice.h"

namespace cli {
namespace {

using nlohmann::ordered_json;

constexpr const char* kRenamed = "renamed";

template <typename T>
void shuffle(std::vector<T>& deck, Dice& dice) {
  for (size_t left = deck.size(); left > 1; --left)
    std::swap(deck[left - 1], deck[dice.below(left)]);
}

bool takes(const std::vector<TaskKind>& kinds, TaskKind kind) {
  return std::ranges::find(kinds, kind) != kinds.end();
}

std::string renamed(const GraderTask& task, Dice& dice) {
  std::vector<std::string> others;
  for (size_t i = 0; i < task.locals.size(); ++i)
    others.push_back(fmt::format("v{}_{:04x}", i, dice.below(1 << 16)));
  return rename_words(task.honest.front().source, task.locals, others);
}

void add_honest(const GraderCorpus& corpus, const GraderTask& task, Dice& dice,
                std::vector<GraderCase>& into) {
  auto add = [&](const std::string& variant, std::string program) {
    into.push_back({"", Intent::kHonest, variant, &task, std::move(program)});
  };
  for (const NamedProgram& each : task.honest) add(each.name, each.source);
  if (!task.locals.empty()) add(kRenamed, renamed(task, dice));
  for (const ProgramTemplate& form : corpus.variants) {
    if (takes(form.kinds, task.kind))
      add(form.name, fill_template(form, task, task.honest.front().source));
  }
}

void add_exploit(const ProgramTemplate& form, std::vector<const GraderTask*> tasks, Dice& dice,
                 std::vector<GraderCase>& into) {
  std::erase_if(tasks, [&form](const GraderTask* task) { return !takes(form.kinds, task->kind); });
  shuffle(tasks, dice);
  tasks.resize(std::min(tasks.size(), kTasksOfExploit));
  for (const GraderTask* task : tasks) {
    const NamedProgram& wrong = task->wrong[dice.below(task->wrong.size())];
    into.push_back(
        {"", Intent::kExploit, form.name, task, fill_template(form, *task, wrong.source)});
  }
}

bool is_wanted(const GraderCase& each, const GraderCorpus& corpus, const CaseChoice& choice) {
  if (!choice.only.empty() && std::ranges::find(choice.only, each.variant) == choice.only.end())
    return false;
  if (each.intent != Intent::kExploit || choice.fenced) return true;
  const auto form = std::ranges::find(corpus.exploits, each.variant, &ProgramTemplate::name);
  return form == corpus.exploits.end() || !form->needs_fence;
}

// A case of each name, and then the others.
void put_each_first(std::vector<GraderCase>& cases) {
  std::set<std::pair<Intent, std::string>> seen;
  std::stable_partition(cases.begin(), cases.end(), [&seen](const GraderCase& each) {
    return seen.emplace(each.intent, each.variant).second;
  });
}

}  // namespace

std::string_view name_of(Intent intent) {
  switch (intent) {
    case Intent::kHonest:
      return "honest";
    case Intent::kWrong:
      return "wrong";
    case Intent::kExploit:
      break;
  }
  return "exploit";
}

std::string unknown_name(const GraderCorpus& corpus, const std::vector<std::string>& names) {
  std::set<std::string> known{kRenamed};
  for (const auto* forms : {&corpus.variants, &corpus.exploits}) {
    for (const ProgramTemplate& each : *forms) known.insert(each.name);
  }
  for (const GraderTask& task : corpus.tasks) {
    for (const auto* programs : {&task.honest, &task.wrong}) {
      for (const NamedProgram& each : *programs) known.insert(each.name);
    }
  }
  for (const std::string& name : names) {
    if (!known.contains(name)) return name;
  }
  return "";
}

std::vector<GraderCase> draw_cases(const GraderCorpus& corpus, const CaseChoice& choice) {
  Dice dice(choice.seed);
  std::vector<GraderCase> cases;
  std::vector<const GraderTask*> tasks;
  for (const GraderTask& task : corpus.tasks) {
    if (!takes(choice.kinds, task.kind)) continue;
    tasks.push_back(&task);
    add_honest(corpus, task, dice, cases);
    for (const NamedProgram& each : task.wrong)
      cases.push_back({"", Intent::kWrong, each.name, &task, each.source});
  }
  for (const ProgramTemplate& form : corpus.exploits) add_exploit(form, tasks, dice, cases);
  std::erase_if(cases, [&](const GraderCase& each) { return !is_wanted(each, corpus, choice); });
  shuffle(cases, dice);
  put_each_first(cases);
  if (choice.count != 0 && choice.count < cases.size()) cases.resize(choice.count);
  shuffle(cases, dice);
  for (size_t i = 0; i < cases.size(); ++i) cases[i].id = fmt::format("case-{}", i + 1);
  return cases;
}

std::string case_json(const GraderCase& each) {
  const GraderTask& task = *each.task;
  ordered_json io = ordered_json::array();
  for (const std::string& line : task.io) io.push_back(ordered_json::parse(line));
  const ordered_json all = {{"id", each.id},
                            {"task", task.name},
                            {"kind", name_of(task.kind)},
                            {"prompt", task.prompt},
                            {"entry_point", task.entry},
                            {"check", task.check},
                            {"tests", test_file_of(task)},
                            {"io", std::move(io)},
                            {"program", each.program}};
  return all.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace cli
