#pragma once
// Slots: the jobs of a batch engine that are pilots. The commands that ask for them, list them and
// end them, and what those commands say. Pure; what they say is foreign.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/engines/slot.h"
#include "sandbox/sys/result.h"

namespace cluster {

// One that is over or about to end is no slot any more.
struct EngineSlot {
  std::string id;            // as the engine names it: "123_4", "12.3"
  bool is_waiting = false;   // it has not begun
  std::string trouble = {};  // in the engine's own words; why it waits or is held
  bool operator==(const EngineSlot&) const = default;
};

struct EngineCommand {
  std::vector<std::string> argv;
  std::string input = {};
};

// `name` is that of the jobs, by which they are found again. Letters, digits, '-', '_' and '.'.
std::string objection_to_slot_name(std::string_view name);

// `printed` is of print_engine(); `directives`, as "partition=short", are the engine's own.
EngineCommand submit_command(Engine engine, const std::string& name, const std::string& printed,
                             const std::vector<std::string>& directives);
EngineCommand queue_command(Engine engine, const std::string& name);
EngineCommand cancel_command(Engine engine, const std::vector<std::string>& ids);

// Why a directive cannot be given; empty: it can.
std::string objection_to_directive(Engine engine, std::string_view directive);

// What queue_command() wrote. An error names the line.
sys::Result<std::vector<EngineSlot>> parse_queue(Engine engine, std::string_view text);

// The name that the pilot in a slot has with its router (slot.h).
std::string pilot_of(Engine engine, const std::string& id);

}  // namespace cluster
