#include "runtime/judging/determinism.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "runtime/values/value.h"

namespace runtime {

bool stands_alone(const Verdict& first) { return first.by != By::kProgram; }

namespace {

std::string first_byte_that_differs(const Output& a, const Output& b) {
  auto [in_a, in_b] = std::mismatch(a.bytes.begin(), a.bytes.end(), b.bytes.begin(), b.bytes.end());
  auto line = 1 + std::count(a.bytes.begin(), in_a, '\n');
  return "byte " + std::to_string(in_a - a.bytes.begin()) + ", line " + std::to_string(line);
}

void declare(JobResult& first, std::string axis, std::string where, Detail more) {
  DeterminismReport& report = *first.determinism;
  report.same = false;
  report.axis = axis;
  report.where = where;
  Detail detail = {{"axis", std::move(axis)}, {"where", std::move(where)}};
  detail.insert(detail.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
  first.verdict = {Outcome::kNonDeterministic, "", By::kPolicy, std::move(detail)};
}

}  // namespace

std::vector<std::string> not_fixed(const FixedFacts& facts) {
  std::vector<std::string> words;
  if (!facts.has_addresses) words.emplace_back("addresses");
  words.emplace_back("file metadata");
  if (!facts.has_own_view) words.emplace_back("paths");
  if (!facts.has_own_pids) words.emplace_back("pid");
  if (facts.is_executed) words.emplace_back("rdtsc");
  if ((facts.is_executed && !facts.is_preloaded) || facts.had_unfixed_child)
    words.emplace_back("static program");
  if (facts.had_company || !facts.has_own_pids) words.emplace_back("thread order");
  if (!facts.has_own_view) words.emplace_back("uid");
  return words;
}

void add_not_fixed(const std::vector<std::string>& words, std::vector<std::string>& into) {
  std::vector<std::string> all;
  std::ranges::set_union(words, into, std::back_inserter(all));
  into = std::move(all);
}

void compare_runs(JobResult& first, const JobResult& later, unsigned runs) {
  if (!first.determinism) first.determinism.emplace();
  first.determinism->runs = runs;
  std::string a = first.verdict.label(), b = later.verdict.label();
  if (a != b) return declare(first, "outcome", "label", {{"first", a}, {"second", b}});
  if (first.value.empty() != later.value.empty()) return declare(first, "value", "presence", {});
  if (!first.value.empty()) {
    if (auto path = first_difference(first.value, later.value))
      return declare(first, "value", *path, {});
  }
  if (first.out.total != later.out.total || first.out.bytes != later.out.bytes) {
    declare(first, "stdout", first_byte_that_differs(first.out, later.out), {});
  }
}

}  // namespace runtime
