#pragma once
// Step: the step of zygo's own work that failed, in any process. A number on the wire, a word in
// results.

#include <cstdint>

namespace shim {

// Stations and set-up steps that can fail, of daemon, template, cell and job; what a SandboxError
// names. Those up to kRunning come over the wire.
enum class Step : uint32_t {
  kNone,
  kClone,
  kIdMaps,
  kIdentity,
  kCgroup,
  kNamespaces,
  kSweeper,
  kScratch,
  kHostname,
  kRuleset,
  kAnswer,
  kProc,
  kCapabilities,
  kFilter,
  kReady,  // of a cell
  kFork,
  kStdio,
  kLimits,
  kDescriptors,
  kJobIdentity,
  kJobCapabilities,
  kLandlock,
  kSchedule,
  kRequest,
  kRestore,  // the state of a node
  kExecute,
  kRollback,  // of the memory that jobs borrow
  kRunning,   // of a job
  kTemplate,
  kRequire,
  kStartTemplate,
  kOrderCell,
  kSetLimits,
  kInput,
  kPair,
  kSendOrder,
  kCell,  // its first process, or what that says
  kKill,
  kWatch,
  kCollect,
  kKeepArtefact,
  kProgram,  // that a command brings along
  kMemory,   // limits around zygo: these two
  kProcesses,
  kHold,   // what one client may hold
  kPilot,  // it was lost
};
const char* name_of(Step step);

}  // namespace shim
