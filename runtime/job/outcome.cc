#include "runtime/job/outcome.h"

#include <algorithm>
#include <array>

namespace runtime {

namespace {
// Indexed by Outcome. The wire labels are this table and nothing else.
constexpr std::array<std::string_view, 18> kOutcomes = {"OK",
                                                        "WrongAnswer",
                                                        "Exception",
                                                        "NonZeroExit",
                                                        "Signalled",
                                                        "CompilationError",
                                                        "InvalidResult",
                                                        "ParsingCodeFailed",
                                                        "TimeoutException",
                                                        "MemoryLimitExceeded",
                                                        "OutputLimitExceeded",
                                                        "DiskLimitExceeded",
                                                        "ProcessLimitExceeded",
                                                        "UnsafeCode",
                                                        "NonDeterministicCode",
                                                        "BadJob",
                                                        "Cancelled",
                                                        "SandboxError"};
static_assert(kOutcomes.size() == static_cast<size_t>(Outcome::kSandboxError) + 1);

constexpr std::array<std::string_view, 5> kBy = {"program", "limit", "policy", "caller", "sandbox"};
static_assert(kBy.size() == static_cast<size_t>(By::kSandbox) + 1);

// "Exception" is not of the closed set: it only stands in for a class without a name.
bool is_label_of_ours(std::string_view name) {
  return name != name_of(Outcome::kException) &&
         std::find(kOutcomes.begin(), kOutcomes.end(), name) != kOutcomes.end();
}
}  // namespace

std::string_view name_of(Outcome outcome) { return kOutcomes[static_cast<size_t>(outcome)]; }
std::string_view name_of(By by) { return kBy[static_cast<size_t>(by)]; }

std::string Evidence::Fault::name_of_step() const {
  return (in_setup ? "cell: " : "") + std::string(shim::name_of(step));
}

std::string Verdict::label() const {
  if (outcome != Outcome::kException || exception_type.empty())
    return std::string(name_of(outcome));
  return is_label_of_ours(exception_type) ? "program." + exception_type : exception_type;
}

}  // namespace runtime
