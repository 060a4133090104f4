#include "runtime/scheduler/program_builds.h"

#include "runtime/builds/compilation.h"
#include "runtime/scheduler/artefact_store.h"

namespace runtime {

using sys::Result;

bool ProgramBuilds::obtain(TaskPtr& task, const TemplateSpec& spec) {
  const bool compiles = spec.runtime && spec.runtime->compiled();
  if (compiles && !task->artefact && !task->build && !obtain_artefact(task, spec)) return false;
  if (!task->job.build_only || task->build) return true;
  reply_built(std::move(task));
  return false;
}

// True: the task has its artefact, or is to build it.
bool ProgramBuilds::obtain_artefact(TaskPtr& task, const TemplateSpec& spec) {
  if (task->artefact_key.empty() && !find_key(task, spec)) return false;
  Built built;
  using Patience = ArtefactStore::Patience;
  // One side of a pair keeps its place: the other is waiting in a cell.
  const Patience patience = task->job.pairing ? Patience::kCannotWait : Patience::kWaits;
  const std::string client = task->client();  // which who waits for another's build takes along
  switch (catalogue_.artefacts().claim(task->artefact_key, task, built, patience)) {
    case ArtefactStore::Claim::kWaiting:
      replies_.let_go(client);
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
  replies_.reply(std::move(task), std::move(failed));
  return false;
}

// False: that takes long, and the task comes back with it.
bool ProgramBuilds::find_key(TaskPtr& task, const TemplateSpec& spec) {
  auto find = [this, &spec, identity = catalogue_.identity_of_build(spec)](Task& each) {
    each.artefact_key =
        catalogue_.build_key(key_of_build(*spec.runtime, identity, each.job), each.job.tenant);
  };
  if (bytes_of_sources(task->job) <= Machine::kShort) {
    find(*task);
    return true;
  }
  replies_.work_aside(std::move(task), find, [this](TaskPtr found) { place_(std::move(found)); });
  return false;
}

// Another process may have built it before. If none has, this task does.
void ProgramBuilds::look_for_build(TaskPtr task, const RuntimeSpec& runtime) {
  auto found = std::make_shared<std::shared_ptr<const Artefact>>();
  auto look = [found, &runtime, builds = catalogue_.builds()](Task& each) {
    auto stored = builds->get(each.artefact_key);
    if (!stored) return;
    auto artefact = Artefact::create(std::move(stored->files), runtime.program(), stored->built_us);
    if (artefact) *found = *std::move(artefact);
  };
  replies_.work_aside(std::move(task), look, [this, found](TaskPtr back) {
    if (*found) {
      back->build.reset();
      back->artefact = *found;
      replies_.return_waiting(catalogue_.artefacts().settle(back->artefact_key, *found, true));
    }
    place_(std::move(back));
  });
}

// There is something to run, which is all that was asked for.
void ProgramBuilds::reply_built(TaskPtr task) {
  JobResult result;
  result.id = task->job.id;
  result.tag = task->job.tag;
  result.verdict = {Outcome::kOk, "", By::kProgram, {}};
  result.level = catalogue_.level();
  if (task->artefact)
    result.compile = CompileReport{!task->compiled_here, task->artefact->built_us};
  replies_.reply(std::move(task), std::move(result));
}

void ProgramBuilds::finish(TaskPtr task, JobResult result) {
  const RuntimeSpec& runtime = *catalogue_.find_template(task->job.template_name)->runtime;
  ArtefactStore& store = catalogue_.artefacts();
  const By by = result.verdict.by;
  task->request.clear();
  if (by == By::kSandbox || by == By::kCaller) {
    task->build.reset();
    std::vector<TaskPtr> waiting = store.give_up(task->artefact_key);
    // Withdrawn, and so is all that waits for it; or our trouble: the next one tries again.
    if (by == By::kCaller) {
      for (TaskPtr& other : waiting) replies_.withdraw(std::move(other));
    } else {
      replies_.return_waiting(std::move(waiting));
    }
    return replies_.reply(std::move(task), std::move(result));
  }
  if (has_made_program(runtime, result)) return keep(std::move(task), std::move(result), runtime);
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
  replies_.reply(std::move(task), std::move(failed));
}

// Until it is kept the task has its build: whoever cancels it gives up the claim.
void ProgramBuilds::keep(TaskPtr task, JobResult result, const RuntimeSpec& runtime) {
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
  replies_.work_aside(std::move(task), keep, [this, keeping](TaskPtr back) {
    ArtefactStore& store = catalogue_.artefacts();
    back->build.reset();
    if (!keeping->artefact) {
      replies_.return_waiting(store.give_up(back->artefact_key));
      const sys::Error& error = keeping->artefact.error();
      return replies_.fail(std::move(back),
                           {shim::Step::kKeepArtefact, error.code(), error.text()});
    }
    back->artefact = *keeping->artefact;
    back->compiled_here = true;
    replies_.return_waiting(store.settle(back->artefact_key, back->artefact, true));
    place_(std::move(back));
  });
}

}  // namespace runtime
