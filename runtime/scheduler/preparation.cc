#include "runtime/scheduler/preparation.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/builds/artefact.h"
#include "runtime/builds/machine_code.h"
#include "runtime/builds/source_rules.h"
#include "runtime/values/value.h"
#include "shim/fixed/fixed.h"

namespace runtime {

using sandbox::Level;
using sandbox::Profile;

namespace {

Environment of_image(const images::Image* image) {
  Environment env;
  if (!image) return env;
  for (const std::string& entry : image->config.environment) {
    const size_t equals = std::min(entry.find('='), entry.size());
    env.emplace_back(entry.substr(0, equals), entry.substr(std::min(equals + 1, entry.size())));
  }
  return env;
}

// Built from nothing.
Environment environment_of(const RuntimeSpec& runtime, const Job& job, const images::Image* image) {
  const Environment images_own = of_image(image);
  Environment env = {{"PATH", std::string(kPath)}, {"HOME", "/tmp"},       {"TMPDIR", "/tmp"},
                     {"USER", "sandbox"},          {"LOGNAME", "sandbox"}, {"LANG", "C.UTF-8"}};
  for (const Environment* more : {&images_own, &runtime.env, &job.env}) {
    for (const auto& entry : *more) {
      std::erase_if(env, [&entry](const auto& old) { return old.first == entry.first; });
      env.push_back(entry);
    }
  }
  return env;
}

// What fixes the clocks and the chance of a program that is executed, and of all that it starts.
void fix_environment(const Catalogue& catalogue, const FixedMode& fixed, Environment& env) {
  std::string library = catalogue.preload_of_programs();
  if (!fixed.on || library.empty()) return;
  std::erase_if(env, [](const auto& entry) { return entry.first == shim::kFixedName; });
  env.emplace_back(shim::kFixedName,
                   fmt::format("{}:{}:{}", fixed.seed, fixed.start, fixed.clock_step_us));
  const auto own = std::find_if(env.begin(), env.end(),
                                [](const auto& entry) { return entry.first == "LD_PRELOAD"; });
  if (own == env.end()) {
    env.emplace_back("LD_PRELOAD", std::move(library));
  } else {
    own->second = library + ":" + own->second;
  }
}

// The scripts of a package are called with these words.
void add_names(const RuntimeSpec& runtime, const Job& job, bool all,
               std::vector<std::string>& words) {
  if (runtime.folder.empty()) return;
  if (all && !job.source_names.empty()) {
    words.insert(words.end(), job.source_names.begin(), job.source_names.end());
  } else {
    words.push_back(names_of_source(runtime, job).file);
    if (all) words.insert(words.end(), job.sources.begin(), job.sources.end());
  }
}

std::string request_of_build(const RuntimeSpec& runtime, const Catalogue& catalogue,
                             const Toolchain& tools, const Job& build) {
  Command command;
  command.program = tools.compile;
  command.argv =
      compile_words(runtime, build.limits, build.source_name, build.sources, build.compiler_flags);
  add_names(runtime, build, true, command.argv);
  command.env = environment_of(runtime, build, catalogue.image());
  for (const InputFile& file : build.files) command.files.push_back(&file);
  return encode_request(command);
}

// A program of the image by its name, or what the image says of itself.
std::vector<std::string> words_of_command(const Job& job, const images::Image* image) {
  if (!job.source.empty() || !image) return {job.source};
  std::vector<std::string> words = image->config.entrypoint;
  const std::vector<std::string>& more = image->config.command;
  if (job.argv.empty()) words.insert(words.end(), more.begin(), more.end());
  if (words.empty()) words.emplace_back();
  return words;
}

std::string request_of_execution(const Job& job) {
  Command command;
  command.program = job.source;
  command.directory = job.execution->directory;
  command.argv = {job.source};
  command.argv.insert(command.argv.end(), job.argv.begin(), job.argv.end());
  command.env = job.env;
  for (const InputFile& file : job.files) command.files.push_back(&file);
  return encode_request(command);
}

// Nothing: there is no such program.
std::optional<Command> command_of(const Catalogue& catalogue, const Job& job) {
  const images::Image* image = catalogue.image();
  Command command;
  command.argv = words_of_command(job, image);
  if (!job.program) {
    auto program = catalogue.find_program(command.argv.front());
    if (!program) return std::nullopt;
    command.program = *program;
  }
  if (image && !job.policy.by_program) command.directory = image->config.working_directory;
  command.argv.insert(command.argv.end(), job.argv.begin(), job.argv.end());
  command.files = files_of_run(job);
  return command;
}

std::string request_of_run(const RuntimeSpec& runtime, const Catalogue& catalogue,
                           const Toolchain& tools, const Job& job, const Artefact* artefact,
                           bool in_place) {
  Command command;
  command.warm = in_place;
  command.program = tools.run;
  const SourceNames names = names_of_source(runtime, job);
  command.argv = fill_in(runtime.run, job.limits, names);
  add_names(runtime, job, false, command.argv);
  command.argv.insert(command.argv.end(), job.argv.begin(), job.argv.end());
  command.env = environment_of(runtime, job, catalogue.image());
  fix_environment(catalogue, job.fixed, command.env);
  const InputFile source{names.file, job.source, false};
  // A package's artefact is all that its compiler left, the job's files among it.
  const bool are_there = artefact && !runtime.folder.empty();
  if (are_there) {
    for (const InputFile& file : job.run_files) command.files.push_back(&file);
  } else {
    command.files = files_of_run(job);
  }
  if (artefact) {
    for (const InputFile& file : artefact->files) command.files.push_back(&file);
  } else {
    command.files.push_back(&source);
  }
  return encode_request(command);
}

// A command gets the rights that its program needs. A compiler gets room for what it writes by the
// way; the caller decides how much time and memory it has.
void follow_rule(const Catalogue& catalogue, const std::string& program, Task& task) {
  Job& job = task.job;
  const CommandRule rule = job.program ? rule_of_own_program() : catalogue.rule_of_command(program);
  job.policy.profile = rule.profile;
  job.policy.refusals = rule.refusals;
  task.language = rule.language;
  if (rule.profile != Profile::kBuild) return;
  job.limits.disk = std::max(job.limits.disk, rule.language->compile_limits.disk);
  job.limits.files = std::max(job.limits.files, rule.language->compile_limits.files);
}

// The job has nothing that an interpreter looks at when it starts, or may: its environment, what it
// is called with, the first line, hidden files in the job's home.
bool suits_warm_interpreter(const Job& job) {
  auto is_hidden = [](const InputFile& file) {
    return file.path.starts_with('.') || file.path.find("/.") != file.path.npos;
  };
  return job.env.empty() && job.argv.empty() && !job.source.starts_with("#!") &&
         !job.source.starts_with("\xEF\xBB\xBF") &&
         std::none_of(job.files.begin(), job.files.end(), is_hidden) &&
         std::none_of(job.run_files.begin(), job.run_files.end(), is_hidden);
}

// The program, or a file beside it.
template <typename Look>
bool any_text(const Job& job, Look look) {
  auto is_such = [&](const InputFile& file) { return look(file.content); };
  return look(job.source) || std::any_of(job.files.begin(), job.files.end(), is_such) ||
         std::any_of(job.run_files.begin(), job.run_files.end(), is_such);
}

// A compacting collector protects the pages that it moves objects from, and borrowed memory is
// sealed against that (Ruby's GC.compact).
bool moves_its_heap(const Job& job) {
  return any_text(job, [](std::string_view text) {
    return text.find("GC") != text.npos && text.find("compact") != text.npos;
  });
}

// The filter of borrowers has other answers for process groups and for madvise. Where nothing is
// borrowed anyway, all jobs share their cells.
bool is_answered_otherwise(const Job& job) {
  if (job.policy.profile >= Profile::kSubprocess) return false;
  return any_text(job, [](std::string_view text) {
    constexpr std::string_view kWords[] = {"killpg", "setpgrp", "setpgid", "setsid", ".madvise"};
    return std::any_of(std::begin(kWords), std::end(kWords),
                       [text](std::string_view word) { return text.find(word) != text.npos; });
  });
}

// Into the program that came with the job, or else into that of the image.
bool can_preload(const Catalogue& catalogue, const Artefact* own, const std::string& program) {
  if (catalogue.preload_of_programs().empty()) return false;
  if (own && own->program) return is_dynamic_program(own->program.get());
  return catalogue.is_dynamic(program);
}

std::string make_command(const Catalogue& catalogue, const RuntimeSpec& runtime, Task& task) {
  const Job& job = task.job;
  auto command = command_of(catalogue, job);
  if (!command) {
    return "source: " + (job.source.empty() ? "the image has no command of its own"
                                            : "the image has no program " + job.source);
  }
  if (job.policy.by_program) follow_rule(catalogue, command->program, task);
  if (catalogue.level() == Level::kMinimal && job.policy.profile == Profile::kBuild) {
    return "source: " + command->program +
           " is a compiler (profile build), and level minimal has none";
  }
  command->env = environment_of(task.language ? *task.language : runtime, job, catalogue.image());
  fix_environment(catalogue, job.fixed, command->env);
  task.is_preloaded = can_preload(catalogue, job.program.get(), command->program);
  task.request = encode_request(*command);
  return "";
}

// The reason why no cell could run a job of this runtime; empty: one can.
std::string objection_of_runtime(const Catalogue& catalogue, const TemplateSpec& spec,
                                 const RuntimeSpec& runtime, Job& job) {
  if (const Toolchain& tools = catalogue.toolchain_of(spec); !tools.missing.empty()) {
    return "template: " + spec.name + " needs " + tools.missing + ", which is not installed here" +
           (runtime.package.empty() ? "" : " (package " + runtime.package + ")");
  }
  if (job.mode == shim::Mode::kCall)
    return "mode: call mode is for Python templates; " + spec.name + " runs scripts";
  if (!job.policy.has_profile) job.policy.profile = runtime.profile;
  if (catalogue.level() == Level::kMinimal && runtime.compiled()) {
    return "template: " + spec.name +
           " is compiled, which needs processes (profile build); level minimal has none";
  }
  return "";
}

}  // namespace

std::string objection_to(const Catalogue& catalogue, const TemplateSpec& spec, Job& job) {
  if (catalogue.level() == Level::kMinimal && job.policy.profile == Profile::kBuild)
    return "policy.profile: build is for compilers, and level minimal has none";
  if (!spec.runtime && !catalogue.has_python())
    return "template: " + spec.name + " needs Python, which the image does not have";
  if (job.is_step() && spec.runtime)
    return "session: for Python templates; " + spec.name + " has no sessions";
  std::string wrong = objection_to_sources(job.template_name, spec.runtime.get(), job);
  if (!wrong.empty() || !spec.runtime) return wrong;
  return objection_of_runtime(catalogue, spec, *spec.runtime, job);
}

std::string make_request(const Catalogue& catalogue, const TemplateSpec& spec, Task& task) {
  const Job& job = task.job;
  task.may_borrow = !spec.runtime && !job.is_step() && !is_answered_otherwise(job);
  if (!spec.runtime) {
    Environment of_children;
    if (job.policy.profile >= Profile::kSubprocess)
      fix_environment(catalogue, job.fixed, of_children);
    task.request = encode_request(job, of_children);
  } else if (job.execution) {
    task.request = request_of_execution(job);
  } else if (spec.runtime->run.empty()) {
    return make_command(catalogue, *spec.runtime, task);
  } else if (task.build) {
    task.request =
        request_of_build(*spec.runtime, catalogue, catalogue.toolchain_of(spec), *task.build);
  } else {
    task.in_place = catalogue.is_warm(spec) && !job.fixed.on && suits_warm_interpreter(job);
    task.may_borrow = task.in_place && !moves_its_heap(job);
    task.request = request_of_run(*spec.runtime, catalogue, catalogue.toolchain_of(spec), job,
                                  task.artefact.get(), task.in_place);
    if (job.fixed.on)
      task.is_preloaded =
          can_preload(catalogue, task.artefact.get(), catalogue.toolchain_of(spec).run);
  }
  return "";
}

}  // namespace runtime
