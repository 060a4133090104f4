#pragma once
// ProgramBuilds: programs of runtimes that compile. A task that wants a program takes it from the
// store, waits for another task's build of it, or builds it: then its `build` is what runs next. On
// the scheduler's thread.

#include <functional>
#include <utility>

#include "runtime/builds/template_spec.h"
#include "runtime/scheduler/catalogue.h"
#include "runtime/scheduler/replies.h"

namespace runtime {

class ProgramBuilds {
 public:
  // `place`: a task that knows more is to be placed again.
  ProgramBuilds(Catalogue& catalogue, Replies& replies, std::function<void(TaskPtr)> place)
      : catalogue_(catalogue), replies_(replies), place_(std::move(place)) {}

  // True: the task has what it runs, or is to build it. False: it was answered, waits for a build,
  // or comes back by `place`.
  bool obtain(TaskPtr& task, const TemplateSpec& spec);
  // The task's build has run.
  void finish(TaskPtr task, JobResult result);

 private:
  bool obtain_artefact(TaskPtr& task, const TemplateSpec& spec);
  bool find_key(TaskPtr& task, const TemplateSpec& spec);
  void look_for_build(TaskPtr task, const RuntimeSpec& runtime);
  void reply_built(TaskPtr task);
  void keep(TaskPtr task, JobResult result, const RuntimeSpec& runtime);

  Catalogue& catalogue_;
  Replies& replies_;
  const std::function<void(TaskPtr)> place_;
};

}  // namespace runtime
