// Comparators, and the globs of outputs: what is expected comes from a caller, what is compared
// with it from a program.

#include "runtime/cell/output_files.h"
#include "runtime/judging/compare.h"
#include "runtime/values/utf8.h"
#include "sandbox/sys/result.h"
#include "tests/fuzz/input.h"

namespace {

using runtime::Comparator;
using runtime::Mismatch;

void check_shown(const std::optional<Mismatch>& found) {
  constexpr size_t kMost = 400;
  if (!found) return;
  for (const std::string* text : {&found->where, &found->expected, &found->got})
    VERIFY(runtime::is_utf8(*text));
  VERIFY(found->expected.size() < kMost && found->got.size() < kMost);
  VERIFY(!found->where.empty());
}

void compare_all(std::string_view a, std::string_view b, double tolerance) {
  for (Comparator each : {Comparator::kExact, Comparator::kLines, Comparator::kTokens,
                          Comparator::kFloat, Comparator::kJson, Comparator::kAlike}) {
    const auto found = runtime::compare(each, tolerance, a, b);
    check_shown(found);
    // Whatever is the same stays so; JSON must be JSON first.
    if (each != Comparator::kJson) VERIFY(!runtime::compare(each, tolerance, b, b));
    if (each == Comparator::kExact) VERIFY(found.has_value() == (a != b));
  }
  // Each forgives what the one before forgives.
  if (!runtime::compare(Comparator::kLines, 0, a, b))
    VERIFY(!runtime::compare(Comparator::kTokens, 0, a, b));
  if (!runtime::compare(Comparator::kTokens, 0, a, b))
    VERIFY(!runtime::compare(Comparator::kFloat, 0, a, b));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kLongestGlob = 64;  // a caller's; globs are not for programs to choose
  fuzz::Input input(data, size);
  const double tolerance = input.number<uint8_t>() / 16.0;
  const auto first = input.number<uint16_t>();
  const std::string_view a = input.take(first), b = input.rest();
  compare_all(a, b, tolerance);
  (void)runtime::comparator_named(a.substr(0, kLongestGlob));
  (void)runtime::glob_matches(a.substr(0, kLongestGlob), b.substr(0, kLongestGlob));
  runtime::TokenRules rules;
  rules.case_counts = size % 2 == 0;
  rules.space_counts = size % 3 == 0;
  if (size % 5 == 0) rules.relative = tolerance;
  check_shown(runtime::compare(rules, a, b));
  return 0;
}
