#include "runtime/json/job/job_fields.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "runtime/json/members.h"
#include "runtime/values/nearest_name.h"

namespace runtime {

namespace {

constexpr std::array<std::string_view, 3> kModes = {"script", "call", "shell"};
constexpr std::array<std::string_view, 4> kProfiles = {"pure", "default", "subprocess", "build"};
constexpr std::array<std::string_view, 2> kStops = {"never", "first_fail"};
constexpr std::array<std::string_view, 2> kDeterminism = {"compare", "fixed"};
constexpr std::array<std::string_view, 2> kReactions = {"deny", "kill"};

template <typename E, E JobSpec::*M>
constexpr NumberAccess choice() {
  return {[](const JobSpec& job) { return static_cast<int64_t>(job.*M); },
          [](JobSpec& job, int64_t value) { job.*M = static_cast<E>(value); }};
}
template <typename E, E Policy::*M>
constexpr NumberAccess policy_choice() {
  return {[](const JobSpec& job) { return static_cast<int64_t>(job.policy.*M); },
          [](JobSpec& job, int64_t value) { job.policy.*M = static_cast<E>(value); }};
}

// Of kModes.
constexpr NumberAccess mode() {
  constexpr int64_t kShell = 2;
  return {[](const JobSpec& job) { return job.shell ? kShell : static_cast<int64_t>(job.mode); },
          [](JobSpec& job, int64_t value) {
            job.shell = value == kShell;
            job.mode = job.shell ? shim::Mode::kScript : static_cast<shim::Mode>(value);
          }};
}

template <int64_t FixedMode::*M>
constexpr NumberAccess of_fixed_mode() {
  return {[](const JobSpec& job) { return job.fixed.*M; },
          [](JobSpec& job, int64_t value) { job.fixed.*M = value; }};
}

using enum FieldKind;

constexpr Field kFieldsBeforeLimits[] = {
    {.path = "id",
     .kind = kText,
     .fallback = "generated",
     .max = 256,
     .text = &JobSpec::id,
     .meaning = "Comes back in the result. Unique in a batch."},
    {.path = "tag",
     .kind = kJson,
     .fallback = "`null`",
     .max = 64 << 10,
     .text = &JobSpec::tag,
     .meaning = "Comes back in the result, as it is."},
    {.path = "tenant",
     .kind = kText,
     .fallback = "the common one",
     .max = 128,
     .text = &JobSpec::tenant,
     .meaning = "The tenant that the job belongs to: templates, cells, builds and blobs of one "
                "tenant serve no other. Letters, digits and `._:@-`. A service decides which "
                "clients may set it ([http.md](http.md#tenants))."},
    {.path = "template",
     .kind = kText,
     .fallback = "`\"python\"`",
     .max = 128,
     .text = &JobSpec::template_name,
     .meaning = "The template that runs the program: `python`, `python-numpy`, `python-pandas` or "
                "one of your own."},
    {.path = "source",
     .kind = kSource,
     .fallback = "required",
     .max = 16 << 20,
     .text = &JobSpec::source,
     .meaning = "The program; or `{\"blob\": \"sha256:..\"}` (`zygo blob put`)."},
    {.path = "mode",
     .kind = kChoice,
     .number = mode(),
     .choices = kModes,
     .meaning =
         "`script` runs the program as `__main__`; `call` runs its definitions and then calls "
         "`func`. `shell`: in a session, the source is a command of the shell "
         "([sessions.md](sessions.md#commands))."},
    {.path = "func",
     .kind = kText,
     .fallback = "required in call mode",
     .max = 256,
     .text = &JobSpec::func,
     .meaning = "Call mode: the name of the function."},
    {.path = "inputs",
     .kind = kInputs,
     .fallback = "none",
     .meaning =
         "Call mode: one call per element, which is its only positional argument. Either this "
         "or `calls`."},
    {.path = "calls",
     .kind = kCalls,
     .fallback = "none",
     .meaning =
         "Call mode: one call per element `{\"args\": [], \"kwargs\": {}}`. `value` is the list "
         "of results in order; the first exception ends it."},
    {.path = "array",
     .kind = kBoolean,
     .number = {[](const JobSpec& job) -> int64_t { return job.array; },
                [](JobSpec& job, int64_t value) { job.array = value != 0; }},
     .meaning =
         "Call mode: nested lists of integers become fresh numpy integer arrays, and arrays in "
         "the value become lists."},
    {.path = "argv",
     .kind = kTexts,
     .fallback = "`[]`",
     .max = 64 << 10,
     .meaning = "Script mode: the arguments, without the program's name."},
    {.path = "env",
     .kind = kEnvironment,
     .fallback = "`{}`",
     .max = 64 << 10,
     .meaning = "Script mode: variables added to the environment, by name. With "
                "`PYTHONUNBUFFERED` a warm Python writes its output at once, too."},
    {.path = "stdin",
     .kind = kBytes,
     .fallback = "`\"\"`",
     .max = 64 << 20,
     .text = &JobSpec::stdin_bytes,
     .meaning = "Script mode: the program's standard input: a string, or `{\"b64\": ..}`."},
    {.path = "files",
     .kind = kFiles,
     .fallback = "`{}`",
     .max = 4096,
     .meaning =
         "Placed in the working directory, by relative path: `{\"text\": ..}`, "
         "`{\"b64\": ..}` or `{\"blob\": \"sha256:..\"}`; `\"executable\": true` sets the bit. "
         "`{\"directory\": true}` makes an empty directory."},
    {.path = "sources",
     .kind = kSources,
     .fallback = "`{}`",
     .max = 16 << 20,
     .meaning =
         "Compiled languages: further sources of the program, by relative path, each as `source`. "
         "Those with an extension of the language are compiled together with it; others "
         "(headers) lie beside them."},
    {.path = "compiler_flags",
     .kind = kFlags,
     .fallback = "`[]`",
     .max = 4096,
     .meaning = "Compiled languages: words for the compiler, after the template's own: "
                "`[\"-std=c++14\", \"-O3\"]`. At most 64."},
    {.path = "outputs",
     .kind = kGlobs,
     .fallback = "`[]`",
     .max = 4096,
     .meaning =
         "Globs of files of the working directory to collect at the end: `*`, `?`, `[..]`, and "
         "`**` for any number of folders."},
    {.path = "tests",
     .kind = kTests,
     .fallback = "`[]`",
     .max = 64 << 20,
     .meaning = "Many tests of one program, each in a run of its own; see below."},
    {.path = "stop",
     .kind = kChoice,
     .number = {[](const JobSpec& job) -> int64_t { return job.stop_at_failure ? 1 : 0; },
                [](JobSpec& job, int64_t value) { job.stop_at_failure = value == 1; }},
     .choices = kStops,
     .meaning = "`never`: all tests are run. `first_fail`: in their order, until one fails."},
    {.path = "checker",
     .kind = kChecker,
     .fallback = "none",
     .max = 16 << 20,
     .meaning =
         "The program that decides where a test says `\"compare\": \"checker\"`; see below."},
    {.path = "interactor",
     .kind = kInteractor,
     .fallback = "none",
     .max = 16 << 20,
     .meaning = "The program that talks with this one in each test, and decides; see below."},
    {.path = "limits",
     .kind = kObject,
     .fallback = "see below",
     .meaning = "The resources that the job may use."},
};

constexpr Field kFieldsBehindLimits[] = {
    {.path = "policy",
     .kind = kObject,
     .fallback = "see below",
     .meaning = "The operations that the job may perform."},
    {.path = "policy.profile",
     .kind = kChoice,
     .fallback = "the template's: `\"default\"` for Python",
     .number = {[](const JobSpec& job) { return static_cast<int64_t>(job.policy.profile); },
                [](JobSpec& job, int64_t value) {
                  job.policy.profile = static_cast<sandbox::Profile>(value);
                  job.policy.has_profile = true;
                }},
     .choices = kProfiles,
     .meaning = "`pure`: compute only. `default`: threads and scratch files. `subprocess`: and "
                "processes of the image. `build`: compilers."},
    {.path = "policy.on_violation",
     .kind = kChoice,
     .number = policy_choice<sandbox::OnViolation, &Policy::on_violation>(),
     .choices = kReactions,
     .meaning =
         "`deny`: the call fails and the program goes on. `kill`: it ends there. The label is "
         "`UnsafeCode` either way."},
    {.path = "policy.require",
     .kind = kRequire,
     .fallback = "`[]`",
     .max = 32,
     .meaning = "A level and layers without which the job must not run, such as `\"full\"`, "
                "`\"cgroup.memory\"`."},
    {.path = "determinism",
     .kind = kObject,
     .fallback = "see below",
     .meaning = "Whether the program must repeat itself."},
    {.path = "determinism.runs",
     .kind = kInteger,
     .min = 1,
     .max = 8,
     .number = {
         [](const JobSpec& job) -> int64_t { return job.determinism_runs; },
         [](JobSpec& job, int64_t value) { job.determinism_runs = static_cast<unsigned>(value); }},
     .meaning = "How often it runs, each time under another seed; the runs must agree. With "
                "`\"mode\": \"fixed\"` the runs are made alike."},
    {.path = "determinism.mode",
     .kind = kChoice,
     .number = {[](const JobSpec& job) -> int64_t { return job.fixed.on; },
                [](JobSpec& job, int64_t value) { job.fixed.on = value == 1; }},
     .choices = kDeterminism,
     .meaning = "`compare`: the program meets real time and chance. `fixed`: clocks, randomness, "
                "hashes, addresses and the order of directories are the same in every run "
                "([determinism.md](determinism.md))."},
    {.path = "determinism.seed",
     .kind = kInteger,
     .max = FixedMode::kMaxSeed,
     .number = of_fixed_mode<&FixedMode::seed>(),
     .meaning = "Fixed mode: all randomness follows from it."},
    {.path = "determinism.clock_step_us",
     .kind = kInteger,
     .max = 1'000'000,
     .number = of_fixed_mode<&FixedMode::clock_step_us>(),
     .meaning = "Fixed mode: each reading of a clock moves all clocks on by so many microseconds, "
                "and each sleep by its length. 0: the clocks stand still, in sleeps, too."},
    {.path = "determinism.start",
     .kind = kInteger,
     .max = FixedMode::kMaxStart,
     .number = of_fixed_mode<&FixedMode::start>(),
     .meaning = "Fixed mode: the time at which the program starts, in seconds since 1970. The "
                "default is 2020-01-01T00:00:00Z."},
    {.path = "session",
     .kind = kText,
     .fallback = "none",
     .max = 64,
     .text = &JobSpec::session,
     .meaning =
         "The job is a step of a session ([sessions.md](sessions.md)): `\"new\"` begins one, "
         "and a `session.node` of an earlier result goes on from there. Python templates."},
    {.path = "keep",
     .kind = kBoolean,
     .number = {[](const JobSpec& job) -> int64_t { return job.keep; },
                [](JobSpec& job, int64_t value) { job.keep = value != 0; }},
     .meaning = "A step: `false` leaves no node, as if it had not been run."},
    {.path = "seed",
     .kind = kInteger,
     .fallback = "drawn for each run",
     .min = 1,
     .max = FixedMode::kMaxSeed,
     .number = {[](const JobSpec& job) -> int64_t { return static_cast<int64_t>(job.seed); },
                [](JobSpec& job, int64_t value) { job.seed = static_cast<uint64_t>(value); }},
     .meaning = "A step: the global generators (`random`, `numpy.random`) that no step has seeded "
                "begin with it."},
    {.path = "priority",
     .kind = kInteger,
     .min = -100,
     .max = 100,
     .number = {[](const JobSpec& job) -> int64_t { return job.priority; },
                [](JobSpec& job, int64_t value) { job.priority = static_cast<int>(value); }},
     .meaning = "For a service: higher goes first."},
    {.path = "deadline_ms",
     .kind = kInteger,
     .fallback = "none",
     .min = 1,
     .max = kDayMs,
     .number = {
         [](const JobSpec& job) -> int64_t { return job.deadline ? job.deadline->count() : 0; },
         [](JobSpec& job, int64_t value) { job.deadline = sys::Milliseconds(value); }},
     .meaning = "For a service: the answer is of no use after this long."},
    {.path = "record",
     .kind = kBoolean,
     .number = {[](const JobSpec& job) -> int64_t { return job.record; },
                [](JobSpec& job, int64_t value) { job.record = value != 0; }},
     .meaning = "The result gets a `record`: the whole job and the place where it ran, for `zygo "
                "replay` ([cli.md](cli.md#zygo-replay)). It repeats all that the job says, `env` "
                "and `stdin` included."},
};
template <size_t I>
constexpr Field limit_field() {
  constexpr const LimitRule& rule = kLimits[I];
  return {.path = rule.path,
          .kind = kInteger,
          .min = rule.min,
          .max = rule.max,
          .number = {[](const JobSpec& job) { return kLimits[I].get(job.limits); },
                     [](JobSpec& job, int64_t value) { kLimits[I].set(job.limits, value); }},
          .meaning = rule.meaning};
}

template <size_t... I>
constexpr auto all_fields(std::index_sequence<I...>) {
  const Field limits[] = {limit_field<I>()...};
  std::array<Field, std::size(kFieldsBeforeLimits) + sizeof...(I) + std::size(kFieldsBehindLimits)>
      all{};
  auto end = std::ranges::copy(kFieldsBeforeLimits, all.begin()).out;
  end = std::ranges::copy(limits, end).out;
  std::ranges::copy(kFieldsBehindLimits, end);
  return all;
}

constexpr auto kFields = all_fields(std::make_index_sequence<std::size(kLimits)>());
static_assert(std::size(kFields) <= 64, "the parser notes what was given in 64 bits");

size_t parent_length(std::string_view path) {
  const size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? 0 : dot + 1;
}

}  // namespace

std::span<const Field> job_fields() { return kFields; }

int field_index(std::string_view path) {
  for (size_t i = 0; i < std::size(kFields); ++i) {
    if (kFields[i].path == path) return static_cast<int>(i);
  }
  return -1;
}

namespace {

// Other APIs call fields of a job by these names.
constexpr auto kElsewhere = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"code", "source"},
    {"program", "source"},
    {"source_code", "source"},
    {"script", "source"},
    {"language", "template"},
    {"lang", "template"},
    {"runtime", "template"},
    {"compiler_options", "compiler_flags"},
    {"compile_flags", "compiler_flags"},
    {"input", "stdin"},
    {"args", "argv"},
    {"timeout", "limits.wall_ms"},
    {"timeout_ms", "limits.wall_ms"},
    {"run_timeout", "limits.wall_ms"},
    {"time_limit", "limits.cpu_ms"},
    {"cpu_time_limit", "limits.cpu_ms"},
    {"memory", "limits.memory_mb"},
    {"memory_limit", "limits.memory_mb"},
    {"run_memory_limit", "limits.memory_mb"},
});

// A field that goes by this name, but belongs into an object: "cpu_ms" is limits.cpu_ms.
std::string_view field_of_an_object(std::string_view name) {
  for (const Field& field : kFields) {
    const size_t parent = parent_length(field.path);
    if (parent > 0 && field.path.substr(parent) == name) return field.path;
  }
  return {};
}

}  // namespace

std::string_view closest_field(std::string_view path) {
  const size_t parent = parent_length(path);
  if (parent == 0) {
    for (const auto& [elsewhere, here] : kElsewhere) {
      if (elsewhere == path) return here;
    }
    if (const std::string_view inside = field_of_an_object(path); !inside.empty()) return inside;
  }
  std::vector<std::string_view> siblings;
  for (const Field& field : kFields) {
    const bool under = parent_length(field.path) == parent &&
                       field.path.substr(0, parent) == path.substr(0, parent);
    if (under) siblings.push_back(field.path.substr(parent));
  }
  return nearest_name(path.substr(parent), siblings);
}

std::string type_of(const Field& field) {
  switch (field.kind) {
    case kObject:
      return "object";
    case kInteger:
      return "integer, " + std::to_string(field.min) + " to " + std::to_string(field.max);
    case kBoolean:
      return "`true` or `false`";
    case kText:
    case kSource:
    case kBytes:
      return "string";
    case kJson:
      return "any JSON";
    case kGlobs:
    case kTexts:
    case kFlags:
      return "list of strings";
    case kSources:
      return "object of sources";
    case kEnvironment:
      return "object of strings";
    case kFiles:
      return "object of files";
    case kInputs:
      return "list";
    case kCalls:
      return "list of calls";
    case kRequire:
      return "list of names";
    case kTests:
      return "list of tests";
    case kChecker:
    case kInteractor:
      return "object";
    case kChoice:
      break;
  }
  std::string names;
  for (std::string_view name : field.choices) {
    names += (names.empty() ? "`\"" : ", `\"") + std::string(name) + "\"`";
  }
  return names;
}

std::string range_of(const Field& field) { return range_of(field.min, field.max); }

std::string default_of(const Field& field) {
  if (!field.fallback.empty()) return std::string(field.fallback);
  if (field.number.get == nullptr) return "-";
  const int64_t value = field.number.get(JobSpec{});
  if (field.kind == kBoolean) return value != 0 ? "`true`" : "`false`";
  if (field.kind == kChoice) {
    return "`\"" + std::string(field.choices[static_cast<size_t>(value)]) + "\"`";
  }
  return std::to_string(value);
}

}  // namespace runtime
