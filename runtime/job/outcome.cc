#include "runtime/job/outcome.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace runtime {

namespace {
struct Label {
  std::string_view name;
  Family family;
};

// Indexed by Outcome. The wire labels are this table and nothing else.
constexpr Label kLabels[] = {{"OK", Family::kOk},
                             {"WrongAnswer", Family::kWrongAnswer},
                             {"Exception", Family::kFailed},
                             {"NonZeroExit", Family::kFailed},
                             {"Signalled", Family::kFailed},
                             {"CompilationError", Family::kNoProgram},
                             {"InvalidResult", Family::kFailed},
                             {"ParsingCodeFailed", Family::kNoProgram},
                             {"TimeoutException", Family::kTime},
                             {"MemoryLimitExceeded", Family::kMemory},
                             {"OutputLimitExceeded", Family::kOutput},
                             {"DiskLimitExceeded", Family::kOtherLimit},
                             {"ProcessLimitExceeded", Family::kOtherLimit},
                             {"UnsafeCode", Family::kPolicy},
                             {"NonDeterministicCode", Family::kPolicy},
                             {"BadJob", Family::kTrouble},
                             {"Cancelled", Family::kCancelled},
                             {"SandboxError", Family::kTrouble}};
static_assert(std::size(kLabels) == static_cast<size_t>(Outcome::kSandboxError) + 1);

constexpr std::array<std::string_view, 5> kBy = {"program", "limit", "policy", "caller", "sandbox"};
static_assert(kBy.size() == static_cast<size_t>(By::kSandbox) + 1);

// In front of a class that is called like a label.
constexpr std::string_view kOfProgram = "program.";

// "Exception" is not of the closed set: it only stands in for a class without a name.
bool is_label_of_ours(std::string_view name) {
  return name != name_of(Outcome::kException) &&
         std::ranges::find(kLabels, name, &Label::name) != std::end(kLabels);
}
}  // namespace

std::string_view name_of(Outcome outcome) { return kLabels[static_cast<size_t>(outcome)].name; }
Family family_of(Outcome outcome) { return kLabels[static_cast<size_t>(outcome)].family; }
std::string_view name_of(By by) { return kBy[static_cast<size_t>(by)]; }

std::string Evidence::Fault::name_of_step() const {
  return (in_setup ? "cell: " : "") + std::string(shim::name_of(step));
}

std::string Verdict::label() const {
  if (outcome != Outcome::kException || exception_type.empty())
    return std::string(name_of(outcome));
  return is_label_of_ours(exception_type) ? std::string(kOfProgram) + exception_type
                                          : exception_type;
}

Verdict verdict_labelled(std::string_view label) {
  Verdict verdict;
  if (is_label_of_ours(label)) {
    const auto row = std::ranges::find(kLabels, label, &Label::name);
    verdict.outcome = static_cast<Outcome>(row - std::begin(kLabels));
    return verdict;
  }
  verdict.outcome = Outcome::kException;
  const bool collides =
      label.starts_with(kOfProgram) && is_label_of_ours(label.substr(kOfProgram.size()));
  verdict.exception_type = collides ? label.substr(kOfProgram.size()) : label;
  return verdict;
}

}  // namespace runtime
