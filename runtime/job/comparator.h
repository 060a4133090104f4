#pragma once
// How the output of a test is compared with what is expected, as a job says it
// (runtime/judging/compare.h). Plain values.

#include <cstdint>
#include <optional>

namespace runtime {

enum class Comparator : uint8_t {
  kExact,   // byte for byte
  kLines,   // blanks at the ends of lines and of the text do not count
  kTokens,  // only what stands between white space counts
  kFloat,   // tokens; two numbers are the same within a tolerance, absolute or relative
  kJson,    // the same JSON value; the order of keys and the notation of numbers do not count
  kValue,   // of a call: the same types and values; what is expected is in the value format
  kRules,   // tokens, as TokenRules say
  kAlike,   // lines; neither case nor blanks at both ends count, nor how a number is written
  kChecker  // a program decides (runtime/judging/suite)
};

// How the default validator of the ICPC problem package format compares tokens. As they stand here:
// letters of either case are the same, white space does not count, numbers are text.
struct TokenRules {
  bool case_counts = false;
  bool space_counts = false;  // the white space between tokens and at both ends, byte for byte
  // With either of them, where a number is expected, a number must come that is within one of them.
  std::optional<double> absolute, relative;
  bool operator==(const TokenRules&) const = default;
};

}  // namespace runtime
