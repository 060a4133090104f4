#include "tools/cli/judge/words.h"

namespace cli {
namespace {

using runtime::Family;
using runtime::Outcome;

// Python raises these instead of compiling.
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
  switch (family_of(verdict.outcome)) {
    case Family::kOk:
      return Word::kAC;
    case Family::kWrongAnswer:
      return Word::kWA;
    case Family::kTime:
      return Word::kTLE;
    case Family::kMemory:
      return Word::kMLE;
    case Family::kOutput:
      return Word::kOLE;
    case Family::kNoProgram:
      return Word::kCE;
    case Family::kFailed:
      return did_not_compile(verdict.exception_type) ? Word::kCE : Word::kRTE;
    case Family::kOtherLimit:
    case Family::kPolicy:
      return Word::kRTE;
    case Family::kCancelled:
    case Family::kTrouble:
      break;
  }
  return Word::kJE;
}

}  // namespace cli
