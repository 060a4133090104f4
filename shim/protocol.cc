#include "shim/protocol.h"

namespace shim {

const char* name_of(Step step) {
  switch (step) {
    case Step::kNone:
      return "none";
    case Step::kClone:
      return "clone";
    case Step::kIdMaps:
      return "id maps";
    case Step::kIdentity:
      return "identity";
    case Step::kCgroup:
      return "join cgroup";
    case Step::kNamespaces:
      return "cgroup namespace";
    case Step::kSweeper:
      return "start broom";
    case Step::kScratch:
      return "make scratch";
    case Step::kHostname:
      return "hostname";
    case Step::kRuleset:
      return "landlock ruleset";
    case Step::kAnswer:
      return "map answer";
    case Step::kProc:
      return "open proc files";
    case Step::kCapabilities:
      return "drop capabilities";
    case Step::kFilter:
      return "load filter";
    case Step::kReady:
      return "report ready";
    case Step::kFork:
      return "fork";
    case Step::kStdio:
      return "stdio";
    case Step::kLimits:
      return "limits";
    case Step::kDescriptors:
      return "descriptors";
    case Step::kJobIdentity:
      return "job identity";
    case Step::kJobCapabilities:
      return "job capabilities";
    case Step::kLandlock:
      return "landlock";
    case Step::kSchedule:
      return "schedule";
    case Step::kRequest:
      return "read request";
    case Step::kExecute:
      return "execute";
    case Step::kRunning:
      return "running";
  }
  return "unknown";
}

}  // namespace shim
