// Runtimes whose programs are executed: what a task becomes before it can run, and the build of a
// program that many tasks may be waiting for.

#include <algorithm>

#include "images/sha256.h"
#include "runtime/scheduler/artefact_store.h"
#include "runtime/scheduler/scheduler.h"
#include "runtime/values/value.h"

namespace runtime {

using sandbox::Level;
using sandbox::Profile;
using sys::Result;

namespace {

using Environment = std::vector<std::pair<std::string, std::string>>;

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

// What the scripts of a package are called with.
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

// The job that compiles `job`'s source.
std::unique_ptr<Job> build_job(const RuntimeSpec& runtime, const Job& job) {
  auto build = std::make_unique<Job>();
  build->id = job.id;
  build->tenant = job.tenant;
  build->template_name = job.template_name;
  build->files = job.files;
  build->source_name = names_of_source(runtime, job).file;
  build->files.push_back({build->source_name, job.source, false});
  build->source_names = job.source_names;
  build->sources = job.sources;
  build->compiler_flags = job.compiler_flags;
  build->outputs = runtime.artefacts;
  build->limits = runtime.compile_limits;
  build->limits.outputs = runtime.compile_limits.disk;
  build->policy.profile = Profile::kBuild;
  build->policy.require = job.policy.require;
  return build;
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
  const InputFile source{names.file, job.source, false};
  // What a package has compiled is all that its compiler left, the job's files among it.
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

// What a command may do is what its program is for. A compiler gets room for what it writes by the
// way; how much time and memory it has is the caller's affair.
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

// Not what an interpreter looks at when it starts, or may: its environment, what it is called with,
// the first line, hidden files in the job's home.
bool suits_warm_interpreter(const Job& job) {
  auto is_hidden = [](const InputFile& file) {
    return file.path.starts_with('.') || file.path.find("/.") != file.path.npos;
  };
  return job.env.empty() && job.argv.empty() && !job.source.starts_with("#!") &&
         !job.source.starts_with("\xEF\xBB\xBF") &&
         std::none_of(job.files.begin(), job.files.end(), is_hidden) &&
         std::none_of(job.run_files.begin(), job.run_files.end(), is_hidden);
}

size_t bytes_of_sources(const Job& job) {
  size_t bytes = job.source.size();
  for (const InputFile& file : job.files) bytes += file.content.size();
  return bytes;
}

// All that a compiler's output may depend on.
std::string key_of(const RuntimeSpec& runtime, const std::string& identity, const Job& job) {
  std::string text = runtime.digest + identity + images::sha256_of(job.source);
  for (const InputFile& file : job.files) {
    text += images::sha256_of(file.path) + images::sha256_of(file.content) +
            (file.executable ? 'x' : '-') + (file.link ? "l" : "");
  }
  for (const std::string& path : job.sources) text += 's' + images::sha256_of(path);
  for (const std::string& flag : job.compiler_flags) text += 'f' + images::sha256_of(flag);
  for (const std::string& name : job.source_names) text += images::sha256_of(name);
  if (!job.source_name.empty()) text += "n" + images::sha256_of(job.source_name);
  return images::sha256_of(text);
}

std::string first_line_with(const std::string& text, std::string_view word) {
  const size_t at = text.find(word);
  const size_t hit = at == text.npos ? 0 : at;
  const size_t newline = text.rfind('\n', hit);
  const size_t begin = newline == text.npos || at == text.npos ? 0 : newline + 1;
  return text.substr(begin, std::min<size_t>(text.find('\n', hit) - begin, 300));
}

// A program of elf(5), little-endian: an object file (-c) has its head, too, but no kernel runs it.
bool is_elf_program(std::string_view content) {
  constexpr size_t kTypeAt = 16;
  constexpr char kExecutable = 2, kPositionIndependent = 3;
  if (!content.starts_with("\x7F"
                           "ELF") ||
      content.size() <= kTypeAt)
    return false;
  return content[kTypeAt] == kExecutable || content[kTypeAt] == kPositionIndependent;
}

// Is what will be executed something that a kernel executes (execve(2))? A Go library compiles to
// an archive, and its compiler calls that well.
bool has_program(const RuntimeSpec& runtime, const OutputFiles& made) {
  const std::string program = runtime.program();
  if (program.empty()) return true;
  const auto file =
      std::find_if(made.files.begin(), made.files.end(),
                   [&program](const InputFile& each) { return each.path == program; });
  if (file == made.files.end()) return false;
  return is_elf_program(file->content) || file->content.starts_with("#!");
}

// What a build that failed tells everybody who wanted its program.
JobResult compilation_error(const RuntimeSpec& runtime, JobResult build) {
  const Verdict& how = build.verdict;
  build.err.bytes = build.out.bytes + build.err.bytes;  // some compilers complain on stdout
  build.err.total += build.out.total;
  build.out = {};
  Detail detail = {{"compiler", runtime.compile.front()}};
  if (how.outcome == Outcome::kNonZeroExit || how.outcome == Outcome::kOk) {
    detail.emplace_back("message", how.ok() && !build.files.files.empty()
                                       ? "the source has no program: " + runtime.program() +
                                             ", which its compiler made, cannot be executed"
                                       : first_line_with(build.err.bytes, "error"));
  } else {
    detail.emplace_back("ended_as", how.label());
    for (const auto& entry : how.detail) detail.push_back(entry);
  }
  build.verdict = {Outcome::kCompilationError, "", By::kProgram, std::move(detail)};
  build.files = {};
  build.exit.reset();
  return build;
}

}  // namespace

// False: the task was answered, or waits for a build.
bool Scheduler::prepare(TaskPtr& task, const TemplateSpec& spec) {
  const RuntimeSpec& runtime = *spec.runtime;
  const Toolchain& tools = catalogue_.toolchain_of(spec);
  Job& job = task->job;
  auto refused = [&](const std::string& message) {
    refuse(std::move(task), message);
    return false;
  };
  if (!tools.missing.empty()) {
    return refused("template: " + spec.name + " needs " + tools.missing +
                   ", which is not installed here" +
                   (runtime.package.empty() ? "" : " (package " + runtime.package + ")"));
  }
  if (job.mode == shim::Mode::kCall)
    return refused("mode: call mode is for Python templates; " + spec.name + " runs scripts");
  if (!job.policy.has_profile) job.policy.profile = runtime.profile;
  if (catalogue_.level() == Level::kMinimal && runtime.compiled()) {
    return refused("template: " + spec.name +
                   " is compiled, which needs processes (profile build); level minimal has none");
  }
  if (runtime.compiled() && !task->artefact && !task->build && !obtain_artefact(task, spec))
    return false;
  if (task->job.build_only && !task->build) {
    reply_built(std::move(task));
    return false;
  }
  if (!task->request.empty()) return true;
  if (job.execution) {
    task->request = request_of_execution(job);
    return true;
  }
  if (runtime.run.empty()) {
    auto command = command_of(catalogue_, job);
    if (!command) {
      return refused("source: " + (job.source.empty() ? "the image has no command of its own"
                                                      : "the image has no program " + job.source));
    }
    if (job.policy.by_program) follow_rule(catalogue_, command->program, *task);
    if (catalogue_.level() == Level::kMinimal && job.policy.profile == Profile::kBuild) {
      return refused("source: " + command->program +
                     " is a compiler (profile build), and level minimal has none");
    }
    command->env =
        environment_of(task->language ? *task->language : runtime, job, catalogue_.image());
    task->request = encode_request(*command);
    return true;
  }
  if (task->build) {
    task->request = request_of_build(runtime, catalogue_, tools, *task->build);
    return true;
  }
  task->in_place = catalogue_.is_warm(spec) && suits_warm_interpreter(job);
  task->request =
      request_of_run(runtime, catalogue_, tools, job, task->artefact.get(), task->in_place);
  return true;
}

// True: the task has its artefact, or is to build it.
bool Scheduler::obtain_artefact(TaskPtr& task, const TemplateSpec& spec) {
  if (task->artefact_key.empty() && !find_key(task, spec)) return false;
  Built built;
  using Patience = ArtefactStore::Patience;
  // One side of a pair keeps its place: the other is waiting in a cell.
  const Patience patience = task->job.pairing ? Patience::kCannotWait : Patience::kWaits;
  const std::string client = task->client();  // which who waits for another's build takes along
  switch (catalogue_.artefacts().claim(task->artefact_key, task, built, patience)) {
    case ArtefactStore::Claim::kWaiting:
      let_go(client);
      return false;
    case ArtefactStore::Claim::kBuild:
      task->build = build_job(*spec.runtime, task->job);
      if (!catalogue_.builds()) return true;
      look_for_build(std::move(task), *spec.runtime);
      return false;
    case ArtefactStore::Claim::kBuilt:
      break;
  }
  if (auto* artefact = std::get_if<std::shared_ptr<const Artefact>>(&built)) {
    task->artefact = std::move(*artefact);
    return true;
  }
  JobResult failed = *std::get<std::shared_ptr<const JobResult>>(built);
  failed.id = task->job.id;
  failed.tag = task->job.tag;
  failed.compile = CompileReport{true, failed.usage.wall_us};
  reply(std::move(task), std::move(failed));
  return false;
}

// False: that takes long, and the task comes back with it.
bool Scheduler::find_key(TaskPtr& task, const TemplateSpec& spec) {
  auto find = [this, &spec, identity = catalogue_.identity_of_build(spec)](Task& each) {
    each.artefact_key =
        catalogue_.build_key(key_of(*spec.runtime, identity, each.job), each.job.tenant);
  };
  if (bytes_of_sources(task->job) <= Machine::kShort) {
    find(*task);
    return true;
  }
  work_aside(std::move(task), find, [this](TaskPtr found) { place(std::move(found)); });
  return false;
}

// Another process may have built it before. If none has, this task does.
void Scheduler::look_for_build(TaskPtr task, const RuntimeSpec& runtime) {
  auto found = std::make_shared<std::shared_ptr<const Artefact>>();
  auto look = [found, &runtime, builds = catalogue_.builds()](Task& each) {
    auto stored = builds->get(each.artefact_key);
    if (!stored) return;
    auto artefact = Artefact::create(std::move(stored->files), runtime.program(), stored->built_us);
    if (artefact) *found = *std::move(artefact);
  };
  work_aside(std::move(task), look, [this, found](TaskPtr back) {
    if (*found) {
      back->build.reset();
      back->artefact = *found;
      return_waiting(catalogue_.artefacts().settle(back->artefact_key, *found, true));
    }
    place(std::move(back));
  });
}

// There is something to run, which is all that was asked for.
void Scheduler::reply_built(TaskPtr task) {
  JobResult result;
  result.id = task->job.id;
  result.tag = task->job.tag;
  result.verdict = {Outcome::kOk, "", By::kProgram, {}};
  result.level = catalogue_.level();
  if (task->artefact)
    result.compile = CompileReport{!task->compiled_here, task->artefact->built_us};
  reply(std::move(task), std::move(result));
}

void Scheduler::finish_build(TaskPtr task, JobResult result) {
  const RuntimeSpec& runtime = *catalogue_.find_template(task->job.template_name)->runtime;
  ArtefactStore& store = catalogue_.artefacts();
  const By by = result.verdict.by;
  task->request.clear();
  if (by == By::kSandbox || by == By::kCaller) {
    task->build.reset();
    std::vector<TaskPtr> waiting = store.give_up(task->artefact_key);
    // Withdrawn, and so is all that waits for it; or our trouble: the next one tries again.
    if (by == By::kCaller) {
      for (TaskPtr& other : waiting) withdraw(std::move(other));
    } else {
      return_waiting(std::move(waiting));
    }
    return reply(std::move(task), std::move(result));
  }
  // What it was refused it has got over, and what it made is confined like any other program.
  const bool made = result.exit && !result.exit->signalled && result.exit->code == 0 &&
                    (result.verdict.ok() || result.verdict.outcome == Outcome::kUnsafeCode);
  if (made && !result.files.files.empty() && result.files.refused.empty() &&
      has_program(runtime, result.files))
    return keep_build(std::move(task), std::move(result), runtime);
  // A compiler that says no says so again; one that ran into a limit may have been unlucky.
  const bool final = result.verdict.outcome == Outcome::kNonZeroExit || result.verdict.ok();
  const int64_t took = result.usage.wall_us;
  JobResult failed = compilation_error(runtime, std::move(result));
  failed.compile = CompileReport{false, took};
  Built built = std::make_shared<const JobResult>(failed);
  task->build.reset();
  for (TaskPtr& other : store.settle(task->artefact_key, built, final)) {
    JobResult copy = failed;
    copy.id = other->job.id;
    copy.tag = other->job.tag;
    copy.compile->cached = true;
    other->done(std::move(copy));
  }
  reply(std::move(task), std::move(failed));
}

// Until it is kept the task has its build: whoever cancels it gives up the claim.
void Scheduler::keep_build(TaskPtr task, JobResult result, const RuntimeSpec& runtime) {
  struct Keeping {
    JobResult made;
    Result<std::shared_ptr<const Artefact>> artefact = std::shared_ptr<const Artefact>();
  };
  auto keeping = std::make_shared<Keeping>(Keeping{std::move(result)});
  auto keep = [keeping, &runtime, builds = catalogue_.builds()](Task& each) {
    const int64_t took = keeping->made.usage.wall_us;
    std::vector<InputFile> files = std::move(keeping->made.files.files);
    if (builds) builds->put(each.artefact_key, {files, took});
    keeping->artefact = Artefact::create(std::move(files), runtime.program(), took);
  };
  work_aside(std::move(task), keep, [this, keeping](TaskPtr back) {
    ArtefactStore& store = catalogue_.artefacts();
    back->build.reset();
    if (!keeping->artefact) {
      return_waiting(store.give_up(back->artefact_key));
      const sys::Error& error = keeping->artefact.error();
      return fail(std::move(back), "keep artefact", error.code(), error.text());
    }
    back->artefact = *keeping->artefact;
    back->compiled_here = true;
    return_waiting(store.settle(back->artefact_key, back->artefact, true));
    place(std::move(back));
  });
}

// To the queue again, from where any shard takes them.
void Scheduler::return_waiting(std::vector<TaskPtr> waiting) {
  if (waiting.empty()) return;
  for (TaskPtr& task : waiting) admission_.put(std::move(task));
  for (Peer* peer : peers_) peer->wake_if_idle();
  wake();
}

}  // namespace runtime
