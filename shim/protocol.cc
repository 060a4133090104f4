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
      return "start sweeper";
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
    case Step::kRestore:
      return "restore state";
    case Step::kExecute:
      return "execute";
    case Step::kRollback:
      return "bring the memory back";
    case Step::kRunning:
      return "running";
    case Step::kTemplate:
      return "template";
    case Step::kRequire:
      return "require";
    case Step::kStartTemplate:
      return "start template";
    case Step::kOrderCell:
      return "order cell";
    case Step::kSetLimits:
      return "set limits";
    case Step::kInput:
      return "stdin";
    case Step::kPair:
      return "pair";
    case Step::kSendOrder:
      return "send order";
    case Step::kCell:
      return "cell";
    case Step::kKill:
      return "kill";
    case Step::kWatch:
      return "watch";
    case Step::kCollect:
      return "collect";
    case Step::kKeepArtefact:
      return "keep artefact";
    case Step::kProgram:
      return "program";
    case Step::kProcesses:
      return "processes";
    case Step::kMemory:
      return "memory";
    case Step::kHold:
      return "hold";
    case Step::kPilot:
      return "pilot";
  }
  return "unknown";
}

}  // namespace shim
