#include "tools/cli/certify/grader/task.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "tools/cli/certify/grader/corpus_files.h"

namespace cli {
namespace {

using sys::Error;
using sys::Result;

constexpr std::string_view kMark = "#: ", kPlace = "# PROGRAM\n";

std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::vector<std::string> split(std::string_view text, char between) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(between), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with('\n')) text.remove_prefix(1);
  while (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

Result<void> add_section(GraderTask& task, std::string_view head, std::string_view body) {
  const size_t space = std::min(head.find(' '), head.size());
  const std::string word(head.substr(0, space));
  const std::string rest(head.substr(std::min(space + 1, head.size())));
  const std::string text = std::string(trimmed(body)) + "\n";
  if (word == "kind") {
    task.kind = TRY(parse_task_kinds(rest, ' ')).front();
  } else if (word == "entry") {
    task.entry = rest;
  } else if (word == "locals") {
    task.locals = split(rest, ' ');
  } else if (word == "prompt") {
    task.prompt = text;
  } else if (word == "check") {
    task.check = text;
  } else if (word == "io") {
    task.io = split(text, '\n');
  } else if (word == "honest") {
    task.honest.push_back({rest, text});
  } else if (word == "wrong") {
    task.wrong.push_back({rest, text});
  } else {
    return Error::because("unknown section " + word);
  }
  return {};
}

std::string objection_to(const GraderTask& task) {
  if (task.prompt.empty()) return "no prompt";
  if (task.honest.empty() || task.wrong.empty()) return "no honest or no wrong program";
  if (task.kind == TaskKind::kStdin) return task.io.empty() ? "no io" : "";
  return task.entry.empty() || task.check.empty() ? "no entry or no check" : "";
}

bool is_word(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

void put_in_place(std::string& text, std::string_view place, std::string_view what) {
  const size_t at = text.find(place);
  if (at != text.npos) text.replace(at, place.size(), what);
}

template <typename T>
T read_or_abort(Result<T> read, std::string_view name) {
  if (!read)
    std::fprintf(stderr, "%s: %s\n", std::string(name).c_str(), read.error().text().c_str());
  VERIFY(read.ok());
  return std::move(read).value();
}

}  // namespace

std::string_view name_of(TaskKind kind) {
  switch (kind) {
    case TaskKind::kFunction:
      return "function";
    case TaskKind::kClass:
      return "class";
    case TaskKind::kStdin:
      break;
  }
  return "stdin";
}

Result<std::vector<TaskKind>> parse_task_kinds(std::string_view text, char between) {
  std::vector<TaskKind> kinds;
  for (const std::string& word : split(text, between)) {
    const auto* found = std::ranges::find(kTaskKinds, word, [](TaskKind k) { return name_of(k); });
    if (found == std::end(kTaskKinds))
      return Error::because(fmt::format("\"{}\" is none of function, class, stdin", word));
    kinds.push_back(*found);
  }
  if (kinds.empty()) return Error::because("none of function, class, stdin");
  return kinds;
}

Result<GraderTask> parse_task(std::string_view name, std::string_view text) {
  GraderTask task;
  task.name = name;
  while (!text.empty()) {
    const std::string_view head = take_line(text);
    if (head.empty()) continue;
    if (!head.starts_with(kMark))
      return Error::because("outside of a section: " + std::string(head));
    const std::string next = "\n" + std::string(kMark);
    const size_t end = text.starts_with(kMark) ? 0 : std::min(text.find(next), text.size());
    TRY(add_section(task, head.substr(kMark.size()), text.substr(0, end)));
    text.remove_prefix(end);
  }
  if (const std::string wrong = objection_to(task); !wrong.empty()) return Error::because(wrong);
  return task;
}

Result<ProgramTemplate> parse_template(std::string_view name, std::string_view text) {
  ProgramTemplate form;
  form.name = name;
  form.kinds.assign(std::begin(kTaskKinds), std::end(kTaskKinds));
  if (text.starts_with("# ")) form.description = take_line(text).substr(2);
  constexpr std::string_view kKinds = "# kinds: ", kNeeds = "# needs: ";
  while (text.starts_with(kKinds) || text.starts_with(kNeeds)) {
    const std::string_view line = take_line(text);
    if (line.starts_with(kKinds)) {
      form.kinds = TRY(parse_task_kinds(line.substr(kKinds.size()), ' '));
    } else if (line.substr(kNeeds.size()) == "fence") {
      form.needs_fence = true;
    } else {
      return Error::because("unknown line " + std::string(line));
    }
  }
  form.text = std::string(trimmed(text)) + "\n";
  if (form.description.empty()) return Error::because("no description");
  return form;
}

const GraderCorpus& grader_corpus() {
  static const GraderCorpus kCorpus = [] {
    GraderCorpus corpus;
    std::string_view liar, oracle;
    for (const GraderFile& file : grader_files()) {
      if (file.folder == "helpers") {
        (file.name == "liar" ? liar : oracle) = file.text;
      } else if (file.folder == "tasks") {
        corpus.tasks.push_back(read_or_abort(parse_task(file.name, file.text), file.name));
      } else {
        auto& into = file.folder == "variants" ? corpus.variants : corpus.exploits;
        into.push_back(read_or_abort(parse_template(file.name, file.text), file.name));
        put_in_place(into.back().text, "# LIAR\n", liar);
        put_in_place(into.back().text, "# ORACLE\n", oracle);
      }
    }
    return corpus;
  }();
  return kCorpus;
}

std::string rename_words(std::string_view source, const std::vector<std::string>& names,
                         const std::vector<std::string>& others) {
  std::string made;
  for (size_t at = 0; at < source.size();) {
    size_t end = at;
    while (end < source.size() && is_word(source[end])) ++end;
    if (end == at) {
      made += source[at++];
      continue;
    }
    const std::string_view word = source.substr(at, end - at);
    const auto found = std::ranges::find(names, word);
    made += found == names.end() ? word : others[static_cast<size_t>(found - names.begin())];
    at = end;
  }
  return made;
}

std::string fill_template(const ProgramTemplate& form, const GraderTask& task,
                          const std::string& program) {
  std::string made = rename_words(form.text, {"ENTRY"}, {task.entry});
  put_in_place(made, kPlace, program);
  return made;
}

std::string test_file_of(const GraderTask& task) {
  if (task.check.empty()) return "";
  return fmt::format("from solution import {0}\n\n\n{1}\n\ndef test_{2}():\n    check({0})\n",
                     task.entry, task.check, task.name);
}

}  // namespace cli
