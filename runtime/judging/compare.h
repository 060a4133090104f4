#pragma once
// Comparators: whether what a program gave is what was expected. They run in the daemon, never in
// the sandbox: an expected answer is nowhere a program could find it. What the program gave is
// hostile; every comparison is total, and linear in both texts. Pure.

#include <optional>
#include <string>
#include <string_view>

#include "runtime/job/comparator.h"

namespace runtime {

// The number that a token is, perhaps with a plus; nothing: it is none, or more than a number.
std::optional<double> number_of(std::string_view token);

struct Mismatch {
  std::string where;          // "line 3", "token 7", "[0][\"key\"]"
  std::string expected, got;  // the part that differs, cut short
};

// None: they are the same. `tolerance`: of kFloat, and of the numbers in kJson. Not for kChecker
// and kRules.
std::optional<Mismatch> compare(Comparator comparator, double tolerance, std::string_view expected,
                                std::string_view got);
std::optional<Mismatch> compare(const TokenRules& rules, std::string_view expected,
                                std::string_view got);

// kAlike. A line that is one number is the same as another within the tolerance, relative to what
// was expected. The blanks at both ends of the texts do not count, lines without words do.
std::optional<Mismatch> compare_alike(double tolerance, std::string_view expected,
                                      std::string_view got);

// kValue. Both are in the value format. Types and values must be the same: 1, 1.0 and True differ,
// and so do a list and a tuple, 0.0 and -0.0, two dtypes or shapes. NaN is NaN; the order of a dict
// does not count. With `arrays_as_lists` an ndarray is the nested list of its items.
std::optional<Mismatch> compare_exact_values(std::string_view expected, std::string_view got,
                                             bool arrays_as_lists);

// "exact", "lines", "tokens", "float:1e-6", "json"; nothing for anything else.
struct NamedComparator {
  Comparator comparator;
  double tolerance;
};
std::optional<NamedComparator> comparator_named(std::string_view words);

}  // namespace runtime
