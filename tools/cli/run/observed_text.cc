#include "tools/cli/run/observed_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace cli {
namespace {

using runtime::ObservedCall;
using Treatment = ObservedCall::Treatment;

std::string treatment_of(const ObservedCall& call) {
  switch (call.treatment) {
    case Treatment::kAllowed:
      return "allowed";
    case Treatment::kQuietly:
      if (call.error == 0) return "left out, as if done";
      return fmt::format("fails quietly: {}", std::strerror(call.error));
    case Treatment::kRefused:
      return call.argument.empty() ? "refused" : "refused: " + call.argument;
  }
  return "";
}

std::string profile_of(const ObservedCall& call) {
  if (call.needs) return std::string(sandbox::name_of(*call.needs));
  return call.treatment == Treatment::kQuietly ? "-" : "none";
}

// The least profile under which nothing that was allowed or refused here would be refused.
std::string conclusion(const std::vector<ObservedCall>& calls) {
  sandbox::Profile needed = sandbox::Profile::kPure;
  std::string never;
  for (const ObservedCall& call : calls) {
    if (call.needs) {
      needed = std::max(needed, *call.needs);
    } else if (call.treatment == Treatment::kRefused) {
      never += (never.empty() ? "" : ", ") + call.name;
    }
  }
  if (!never.empty()) return fmt::format("No profile allows all of it: {}.", never);
  return fmt::format("Profile {} would do.", sandbox::name_of(needed));
}

}  // namespace

std::string observed_table(const runtime::JobResult& result, const Style& style) {
  size_t widest = 7;
  for (const ObservedCall& call : result.observed) widest = std::max(widest, call.name.size());
  std::string text =
      style.paint(Colour::kBold, fmt::format("{:>7}  {:<{}}  {:<10}  {}", "times", "syscall",
                                             widest, "profile", "what became of it"));
  for (const ObservedCall& call : result.observed) {
    text +=
        fmt::format("\n{:>7}  {:<{}}  {:<10}  ", call.count, call.name, widest, profile_of(call));
    const bool refused = call.treatment == Treatment::kRefused;
    text += style.paint(refused ? Colour::kRed : Colour::kNone,
                        clip(escape_controls(treatment_of(call), Lines::kEscape), 60));
  }
  return text + "\n" + conclusion(result.observed);
}

}  // namespace cli
