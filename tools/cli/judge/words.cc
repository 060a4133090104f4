#include "tools/cli/judge/words.h"

namespace cli {
namespace {

using runtime::Outcome;

// What Python raises instead of compiling.
bool did_not_compile(const std::string& type) {
  return type == "SyntaxError" || type == "IndentationError" || type == "TabError";
}

}  // namespace

std::string_view name_of(Word word) {
  switch (word) {
    case Word::kAC:
      return "AC";
    case Word::kPAC:
      return "PAC";
    case Word::kWA:
      return "WA";
    case Word::kTLE:
      return "TLE";
    case Word::kRTE:
      return "RTE";
    case Word::kCE:
      return "CE";
    case Word::kMLE:
      return "MLE";
    case Word::kOLE:
      return "OLE";
    case Word::kJE:
      return "JE";
  }
  return "JE";
}

Word word_of(const runtime::Verdict& verdict) {
  switch (verdict.outcome) {
    case Outcome::kOk:
      return Word::kAC;
    case Outcome::kWrongAnswer:
      return Word::kWA;
    case Outcome::kTimeout:
      return Word::kTLE;
    case Outcome::kMemoryLimit:
      return Word::kMLE;
    case Outcome::kOutputLimit:
      return Word::kOLE;
    case Outcome::kCompilationError:
    case Outcome::kParsingCodeFailed:
      return Word::kCE;
    case Outcome::kException:
      return did_not_compile(verdict.exception_type) ? Word::kCE : Word::kRTE;
    case Outcome::kNonZeroExit:
    case Outcome::kSignalled:
    case Outcome::kInvalidResult:
    case Outcome::kDiskLimit:
    case Outcome::kProcessLimit:
    case Outcome::kUnsafeCode:
    case Outcome::kNonDeterministic:
      return Word::kRTE;
    case Outcome::kBadJob:
    case Outcome::kCancelled:
    case Outcome::kSandboxError:
      return Word::kJE;
  }
  return Word::kJE;
}

}  // namespace cli
