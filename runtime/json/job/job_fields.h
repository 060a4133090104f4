#pragma once
// The schema of a job: one table from which jobs are validated and the reference page is written.
// Pure data.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "runtime/job/job.h"

namespace runtime {

enum class FieldKind : uint8_t {
  kObject,  // fields with this path in front
  kInteger,
  kBoolean,
  kChoice,  // a string of `choices`
  kText,
  kBytes,  // text, or {"b64"}
  kSource,
  kJson,  // anything, echoed
  kTexts,
  kGlobs,
  kEnvironment,
  kFiles,
  kSources,
  kFlags,
  kInputs,
  kCalls,
  kRequire,
  kTests,
  kChecker,
  kInteractor,
};

// The place of an integer, a boolean (0 or 1) or a choice (its index) in a job.
struct NumberAccess {
  int64_t (*get)(const JobSpec&) = nullptr;
  void (*set)(JobSpec&, int64_t) = nullptr;
};

struct Field {
  std::string_view path;  // "limits.cpu_ms"
  FieldKind kind;
  std::string_view fallback = {};  // the default in words; empty: `number` knows it
  int64_t min = 0, max = 0;        // integers: the range; texts: the length in bytes
  NumberAccess number = {};
  std::string JobSpec::*text = nullptr;
  std::span<const std::string_view> choices = {};
  std::string_view meaning = {};
};

std::span<const Field> job_fields();

// What means something in fixed mode only, and is refused elsewhere.
inline constexpr std::array<std::string_view, 3> kOfFixedMode = {
    "determinism.seed", "determinism.clock_step_us", "determinism.start"};

// The index in job_fields(), or -1.
int field_index(std::string_view path);

// The field that was probably meant: at the top what other APIs call so, or what has this name in
// an object; else the one under the same object that looks most like it. Empty: none.
std::string_view closest_field(std::string_view path);

// "an integer, 1 to 8", "one of \"script\", \"call\"", ...
std::string type_of(const Field& field);
// "a number from 1 to 8": of an integer.
std::string range_of(const Field& field);
// The default as the reference shows it.
std::string default_of(const Field& field);

}  // namespace runtime
