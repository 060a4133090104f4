#include "cluster/engines/slot.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <ctime>
#include <utility>

#include "cluster/engines/class_ad.h"

namespace cluster {

namespace {

constexpr std::array<std::pair<Engine, std::string_view>, 5> kEngines = {
    {{Engine::kNone, "none"},
     {Engine::kSlurm, "slurm"},
     {Engine::kHtcondor, "htcondor"},
     {Engine::kKubernetes, "kubernetes"},
     {Engine::kSsh, "ssh"}}};

// What an engine itself says of the slot, control groups and CPU masks aside.
struct Told {
  std::string name;
  std::optional<uint64_t> cpus = {};
  std::optional<uint64_t> memory = {};  // bytes
  std::optional<int64_t> end = {};      // seconds since 1970
  std::vector<std::string> ask_end = {};
};

template <typename Number>
void take_least(std::optional<Number>& least, std::optional<Number> other) {
  if (other) least = least ? std::min(*least, *other) : *other;
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\n");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

std::optional<uint64_t> number(std::string_view text) {
  text = trimmed(text);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

const std::string& value(const Environment& environment, std::string_view name) {
  static const std::string kEmpty;
  const auto found = environment.find(name);
  return found == environment.end() ? kEmpty : found->second;
}

std::optional<uint64_t> number(const Environment& environment, std::string_view name) {
  return number(value(environment, name));
}

// "2(x3),1" says 2 for each of the first three nodes and 1 for the fourth.
std::optional<uint64_t> tasks_on_node(std::string_view list, uint64_t node) {
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    const std::string_view item = list.substr(0, comma);
    const size_t bracket = item.find("(x");
    const std::optional<uint64_t> tasks = number(item.substr(0, bracket));
    uint64_t nodes = 1;
    if (bracket != item.npos && item.ends_with(')')) {
      nodes = number(item.substr(bracket + 2, item.size() - bracket - 3)).value_or(1);
    }
    if (node < nodes) return tasks;
    node -= nodes;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return std::nullopt;
}

// Batch scripts have no step, or a number that means none.
constexpr uint64_t kSpecialSteps = 0xfffffff0;

bool is_in_step(const Environment& env) {
  return number(env, "SLURM_STEP_ID").value_or(kSpecialSteps) < kSpecialSteps;
}

std::string slurm_name(const Environment& env) {
  std::string name = "slurm-" + value(env, "SLURM_JOB_ID");
  if (number(env, "SLURM_ARRAY_TASK_ID")) {
    name = "slurm-" + value(env, "SLURM_ARRAY_JOB_ID") + "_" + value(env, "SLURM_ARRAY_TASK_ID");
  }
  if (is_in_step(env)) name += "-" + value(env, "SLURM_STEP_ID") + "." + value(env, "SLURM_PROCID");
  return name;
}

// Its stdout is the end: SLURM_TIME_FORMAT goes to strftime. Sites have squeue and its
// configuration where the variables say.
std::vector<std::string> squeue_command(const Environment& env) {
  std::vector<std::string> command = {"/usr/bin/env", "SLURM_TIME_FORMAT=%s"};
  for (const char* name : {"PATH", "SLURM_CONF", "TZ"}) {
    if (const auto found = env.find(name); found != env.end()) {
      command.push_back(std::string(name) + "=" + found->second);
    }
  }
  for (const char* word : {"timeout", "10", "squeue", "-h", "-o", "%e", "-j"}) {
    command.emplace_back(word);
  }
  command.push_back(value(env, "SLURM_JOB_ID"));
  return command;
}

// A step's cores and memory are for all its tasks on the node. A task's own share is told for cores
// alone, and only if --cpus-per-task was given.
Told told_by_slurm(const Environment& env) {
  Told told{.name = slurm_name(env)};
  const uint64_t tasks =
      !is_in_step(env)
          ? 1
          : std::max<uint64_t>(1, tasks_on_node(value(env, "SLURM_STEP_TASKS_PER_NODE"),
                                                number(env, "SLURM_NODEID").value_or(0))
                                      .value_or(1));
  const std::optional<uint64_t> on_node = number(env, "SLURM_CPUS_ON_NODE");
  told.cpus = number(env, "SLURM_CPUS_PER_TASK");
  if (on_node) take_least<uint64_t>(told.cpus, *on_node / tasks);
  // Zero stands for all of the node's memory.
  const uint64_t per_node = number(env, "SLURM_MEM_PER_NODE").value_or(0);
  const uint64_t per_cpu = number(env, "SLURM_MEM_PER_CPU").value_or(0);
  if (per_node != 0) told.memory = sys::mebibytes(per_node / tasks).count;
  if (per_cpu != 0) {
    take_least<uint64_t>(told.memory, sys::mebibytes(per_cpu * told.cpus.value_or(1)).count);
  }
  if (const auto end = number(env, "SLURM_JOB_END_TIME")) {
    told.end = static_cast<int64_t>(*end);
  } else {
    told.ask_end = squeue_command(env);
  }
  return told;
}

// The job's own limits on its time hold it when they are over. Glideins tell when they themselves
// end (GLIDEIN_ToDie). A lease is renewed as long as the submitter lives: it is no end.
std::optional<int64_t> condor_end(const ClassAd& job, const ClassAd& machine) {
  std::optional<int64_t> end = machine.number("GLIDEIN_ToDie");
  const std::optional<int64_t> start = job.number("JobCurrentStartDate");
  if (const auto length = job.number("AllowedJobDuration"); start && length) {
    take_least<int64_t>(end, *start + *length);
  }
  const std::optional<int64_t> executing = job.number("JobCurrentStartExecutingDate");
  if (const auto length = job.number("AllowedExecuteDuration"); start && length) {
    take_least<int64_t>(end, std::max(*start, executing.value_or(*start)) + *length);
  }
  return end;
}

std::optional<uint64_t> positive(std::optional<int64_t> number) {
  if (!number || *number <= 0) return std::nullopt;
  return static_cast<uint64_t>(*number);
}

Told told_by_condor(const SlotSources& sources) {
  const ClassAd job(sources.job_ad), machine(sources.machine_ad);
  Told told;
  const std::optional<int64_t> cluster = job.number("ClusterId"), proc = job.number("ProcId");
  if (cluster && proc) {
    told.name = "condor-" + std::to_string(*cluster) + "." + std::to_string(*proc);
  } else {
    told.name = "condor-" + sources.host + "-" + value(sources.environment, "_CONDOR_SLOT");
  }
  // A slot may be larger than what was asked for, and is all ours.
  told.cpus = positive(machine.number("Cpus"));
  if (!told.cpus) told.cpus = positive(job.number("RequestCpus"));
  auto megabytes = positive(machine.number("Memory"));
  if (!megabytes) megabytes = positive(job.number("RequestMemory"));
  if (megabytes) told.memory = sys::mebibytes(*megabytes).count;
  told.end = condor_end(job, machine);
  return told;
}

Told told_by_kubernetes(const SlotSources& sources) {
  const std::string& pod = value(sources.environment, "POD_NAME");
  return {.name = pod.empty() ? sources.host : pod};
}

Engine engine_in(const Environment& env) {
  if (env.contains("SLURM_JOB_ID")) return Engine::kSlurm;
  for (const char* each : {"_CONDOR_JOB_AD", "_CONDOR_SLOT", "_CONDOR_SCRATCH_DIR"}) {
    if (env.contains(each)) return Engine::kHtcondor;
  }
  return env.contains("KUBERNETES_SERVICE_HOST") ? Engine::kKubernetes : Engine::kNone;
}

Told told_by(Engine engine, const SlotSources& sources) {
  switch (engine) {
    case Engine::kSlurm:
      return told_by_slurm(sources.environment);
    case Engine::kHtcondor:
      return told_by_condor(sources);
    case Engine::kKubernetes:
      return told_by_kubernetes(sources);
    case Engine::kNone:
    case Engine::kSsh:
      break;
  }
  return {.name = sources.host + "-" + std::to_string(sources.pid)};
}

// A quota of one core and a half is one core: the second would be stopped half of the time.
std::optional<uint64_t> cpus_of(const GroupTexts& group) {
  std::string_view quota = group.cfs_quota_us, period = group.cfs_period_us;
  if (!group.cpu_max.empty()) {
    const std::string_view text = trimmed(group.cpu_max);
    const size_t space = std::min(text.find(' '), text.size());
    quota = text.substr(0, space);
    period = text.substr(space);
  }
  const std::optional<uint64_t> time = number(quota), of = number(period);  // "max" and -1: none
  if (!time || !of || *of == 0) return std::nullopt;
  return *time / *of;
}

std::string printable(std::string name) {
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_' && c != '-') c = '-';
  }
  return name.substr(0, 128);
}

}  // namespace

std::string_view name_of(Engine engine) {
  for (const auto& [each, name] : kEngines) {
    if (each == engine) return name;
  }
  return "none";
}

std::optional<Engine> engine_of(std::string_view name) {
  for (const auto& [engine, each] : kEngines) {
    if (each == name) return engine;
  }
  return std::nullopt;
}

Slot find_slot(const SlotSources& sources) {
  Slot slot;
  slot.engine = engine_in(sources.environment);
  Told told = told_by(slot.engine, sources);
  std::optional<uint64_t> cpus = sources.affinity, memory = told.memory;
  take_least(cpus, told.cpus);
  for (const GroupTexts& group : sources.groups) {
    take_least(cpus, cpus_of(group));
    take_least(memory, number(group.memory_limit));
  }
  slot.name = printable(std::move(told.name));
  slot.cpus = static_cast<unsigned>(std::clamp<uint64_t>(*cpus, 1, 1U << 16));
  // v1 writes "no limit" as the largest multiple of a page.
  constexpr uint64_t kNoLimit = uint64_t{1} << 62;
  if (memory && *memory < kNoLimit) slot.memory = sys::Bytes{*memory};
  if (told.end) slot.end = EpochTime(std::chrono::seconds(*told.end));
  slot.ask_end = std::move(told.ask_end);
  return slot;
}

std::optional<EpochTime> end_in_answer(std::string_view answer) {
  answer = trimmed(answer.substr(0, answer.find('\n')));
  if (const auto seconds = number(answer)) return EpochTime(std::chrono::seconds(*seconds));
  // An older squeue writes the local time whatever it was asked; NONE and N/A are no times.
  std::tm time{};
  const std::string text(answer);
  const char* end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &time);
  if (end == nullptr || *end != '\0') return std::nullopt;
  time.tm_isdst = -1;
  return EpochTime(std::chrono::seconds(std::mktime(&time)));
}

}  // namespace cluster
