#include "cluster/scale/slots.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace cluster {

using sys::Error;
using sys::Result;

namespace {

constexpr size_t kMostSlots = 100'000, kLongestTrouble = 200;

bool is_word(std::string_view text, std::string_view also) {
  return !text.empty() && std::ranges::all_of(text, [also](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           also.find(c) != also.npos;
  });
}

// "123_4", "123" and "12.3": digits, and one mark between digits.
bool is_id(std::string_view id, char mark) {
  const size_t at = id.find(mark);
  const std::string_view first = id.substr(0, at);
  const bool is_first = is_word(first, "") && std::ranges::all_of(first, ::isdigit);
  if (at == id.npos) return is_first;
  const std::string_view rest = id.substr(at + 1);
  return is_first && !rest.empty() && std::ranges::all_of(rest, ::isdigit);
}

std::string printable(std::string_view text) {
  std::string shown(text.substr(0, kLongestTrouble));
  std::ranges::replace_if(
      shown, [](unsigned char c) { return c < 0x20 || c >= 0x7f; }, '?');
  return shown;
}

// Up to the next `mark`, which is taken, too.
std::string_view take_word(std::string_view& line, char mark) {
  const size_t at = std::min(line.find(mark), line.size());
  const std::string_view word = line.substr(0, at);
  line.remove_prefix(std::min(at + 1, line.size()));
  return word;
}

// "123_4|PENDING|Resources"; with --array each task has a line.
std::optional<EngineSlot> slot_of_slurm(std::string_view line, bool& is_over) {
  constexpr std::array<std::string_view, 5> kWaiting{"PENDING", "CONFIGURING", "REQUEUED",
                                                     "REQUEUE_HOLD", "SPECIAL_EXIT"};
  constexpr std::array<std::string_view, 4> kRunning{"RUNNING", "SUSPENDED", "STOPPED", "RESIZING"};
  const std::string_view id = take_word(line, '|'), state = take_word(line, '|');
  if (!is_id(id, '_') || !is_word(state, "_")) return std::nullopt;
  EngineSlot slot{.id = std::string(id)};
  slot.is_waiting = std::ranges::find(kWaiting, state) != kWaiting.end();
  is_over = !slot.is_waiting && std::ranges::find(kRunning, state) == kRunning.end();
  if (slot.is_waiting && line != "None") slot.trouble = printable(line);
  return slot;
}

// "12.3 5 The reason": JobStatus 1 idle, 2 running, 3 removed, 4 completed, 5 held, 6 transferring
// output, 7 suspended (HTCondor manual, job ClassAd attributes).
std::optional<EngineSlot> slot_of_condor(std::string_view line, bool& is_over) {
  const std::string_view id = take_word(line, ' '), state = take_word(line, ' ');
  if (!is_id(id, '.') || id.find('.') == id.npos) return std::nullopt;
  if (state.size() != 1 || state[0] < '1' || state[0] > '7') return std::nullopt;
  EngineSlot slot{.id = std::string(id)};
  slot.is_waiting = state == "1" || state == "5";
  is_over = state == "3" || state == "4" || state == "6";
  if (line != "undefined") slot.trouble = printable(line);
  return slot;
}

}  // namespace

std::string objection_to_slot_name(std::string_view name) {
  if (is_word(name, "-_.") && name.size() <= 64 && name[0] != '-') return {};
  return "expected at most 64 letters, digits, '-', '_' and '.'";
}

std::string objection_to_directive(Engine engine, std::string_view directive) {
  constexpr std::array<std::string_view, 11> kSlurm{"array", "job-name", "parsable",     "wrap",
                                                    "chdir", "output",   "signal",       "ntasks",
                                                    "nodes", "mem",      "cpus-per-task"};
  constexpr std::array<std::string_view, 8> kCondor{
      "universe",   "executable",     "arguments", "transfer_input_files",
      "batch_name", "request_memory", "queue",     "request_cpus"};
  const std::string_view name = directive.substr(0, directive.find('='));
  if (name.size() == directive.size() || !is_word(name, "-_+.") || name[0] == '-')
    return "expected NAME=VALUE";
  if (std::ranges::any_of(directive, [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
    return "it has a control character";
  const bool is_ours = engine == Engine::kSlurm ? std::ranges::find(kSlurm, name) != kSlurm.end()
                                                : std::ranges::find(kCondor, name) != kCondor.end();
  return is_ours ? "it is said by other options" : std::string();
}

EngineCommand submit_command(Engine engine, const std::string& name, const std::string& printed,
                             const std::vector<std::string>& directives) {
  EngineCommand command{.argv = {}, .input = printed};
  if (engine == Engine::kSlurm) {
    command.argv = {"sbatch", "--parsable", "--job-name=" + name};
    for (const std::string& each : directives) command.argv.push_back("--" + each);
    return command;
  }
  command.argv = {"condor_submit", "-terse", "-batch-name", name};
  for (const std::string& each : directives) {
    const size_t at = each.find('=');
    command.argv.insert(command.argv.end(),
                        {"-append", each.substr(0, at) + " = " + each.substr(at + 1)});
  }
  command.argv.push_back("-");
  return command;
}

EngineCommand queue_command(Engine engine, const std::string& name) {
  if (engine == Engine::kSlurm)
    return {{"squeue", "--noheader", "--array", "--me", "--name=" + name, "--format=%i|%T|%r"}};
  return {{"condor_q", "-constraint", fmt::format("JobBatchName == \"{}\"", name), "-af:j",
           "JobStatus", "HoldReason"}};
}

EngineCommand cancel_command(Engine engine, const std::vector<std::string>& ids) {
  EngineCommand command{{engine == Engine::kSlurm ? "scancel" : "condor_rm"}};
  command.argv.insert(command.argv.end(), ids.begin(), ids.end());
  return command;
}

Result<std::vector<EngineSlot>> parse_queue(Engine engine, std::string_view text) {
  std::vector<EngineSlot> slots;
  while (!text.empty()) {
    const std::string_view line = take_word(text, '\n');
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    bool is_over = false;
    auto slot =
        engine == Engine::kSlurm ? slot_of_slurm(line, is_over) : slot_of_condor(line, is_over);
    if (!slot) return Error::because("no line of the queue: " + printable(line));
    if (is_over) continue;
    if (slots.size() == kMostSlots)
      return Error::because(fmt::format("the queue has more than {} lines", kMostSlots));
    slots.push_back(std::move(*slot));
  }
  return slots;
}

std::string pilot_of(Engine engine, const std::string& id) {
  return (engine == Engine::kSlurm ? "slurm-" : "condor-") + id;
}

}  // namespace cluster
