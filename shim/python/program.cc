#include "shim/python/program.h"

#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

#include "shim/fixed/fixed.h"
#include "shim/next_step.h"
#include "shim/protocol.h"
#include "shim/python/audit.h"
#include "shim/python/interpreter_refs.h"
#include "shim/python/load.h"
#include "shim/python/ref.h"
#include "shim/python/report/ending.h"
#include "shim/python/setup.h"
#include "shim/python/steps/process_state.h"
#include "shim/python/steps/sqlite_files.h"
#include "shim/python/threads.h"

namespace shim {
namespace {

bool is_step(const Request& request) { return request.mode >= Mode::kStep; }

// What a job finds is made for it, but in a step that goes on from others: that has it all.
bool make_surroundings(const Request& request, const AnswerSpace& space) {
  if (space.goes_on) return name_next_step() && take_up_surroundings(request, space.home);
  return reseed() && set_surroundings(request, space.home);
}

Ending run_in(Request& request, const Answer& answer) {
  switch (request.mode) {
    case Mode::kScript:
      return run_script(request, answer);
    case Mode::kStep:
      return run_step(request, answer);
    case Mode::kStepShell:
      return run_shell(request, answer);
    default:
      return run_calls(request, answer);
  }
}

// However soon the step ends, the next one goes on from what it has.
void take_up(const AnswerSpace& space) {
  if (space.goes_on && !space.stays) take_up_process_state();
  take_up_files_of_sqlite(space.home, space.goes_on);
}

Ending run(Request& request, const Answer& answer) {
  if (is_step(request)) take_up(answer.space);
  if (request.fixed && zygo_fixed_begin) {
    zygo_fixed_begin(&*request.fixed);
    reseed_by_job();
  }
  if (!refresh_thread() || !place_files(request.files) ||
      !make_surroundings(request, answer.space) || !decode_source(request)) {
    return end_script(answer, Stage::kCompile, request.source);
  }
  if (is_step(request)) {
    follow_generators(answer.space.goes_on, answer.space.seed);
    follow_threads();
  }
  start_audit(answer.space.region, answer.space.goes_on);
  return run_in(request, answer);
}

// The little that can be said when not even our own buffers could be had.
Ending out_of_memory(const Answer& answer) {
  release_reserve();
  const Testimony testimony{.type = "MemoryError",
                            .message = {},
                            .traceback = "MemoryError\n",
                            .flags = kMemoryErrorByInterpreter};
  const size_t size = write_testimony(testimony, answer.payload(), answer.space.capacity);
  return {AnswerKind::kException, size, 1};
}

// Returns when the process is to go on as the next step.
void run_one(std::string_view request, const Answer& answer) {
  answer.space.region->header = {};
  answer.space.region->note = {};
  auto parsed = parse_request(request);
  const bool is_for_us = parsed && parsed->mode != Mode::kExec && parsed->mode != Mode::kWarm;
  if (!is_for_us) _exit(kBrokenRequest);
  if (!answer.space.stays) restore_signals();
  Ending ending;
  try {
    ending = run(*parsed, answer);
  } catch (const std::bad_alloc&) {
    ending = out_of_memory(answer);
  }
  is_step(*parsed) ? rest(answer, ending) : finish(answer, ending);
}

}  // namespace

bool executes_programs() { return false; }
bool runs_in_place() { return true; }
bool answers_in_memory() { return true; }
size_t most_warm_pages() { return kMostWarmPages; }

void run_program(std::string_view request, AnswerSpace space) {
  const int owner = getpid();
  for (;;) {
    run_one(request, {space, owner});
    request = take_next_step(space);
    space.stays = true;
  }
}

std::vector<std::string> trials_of_setup() {
  std::vector<std::string> sources;
  PyObject* modules = PyImport_GetModuleDict();
  PyObject* setup = PyDict_GetItemString(modules, "zygo_setup");  // borrowed
  Ref trials = setup ? attribute(setup, "__trials__") : Ref();
  Ref items = trials ? Ref::steal(PySequence_Tuple(trials.get())) : Ref();
  const Py_ssize_t count = items ? PyTuple_Size(items.get()) : 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* item = PyTuple_GetItem(items.get(), i);  // borrowed
    Py_ssize_t size = 0;
    const char* text = PyUnicode_Check(item) ? PyUnicode_AsUTF8AndSize(item, &size) : nullptr;
    if (text) sources.emplace_back(text, static_cast<size_t>(size));
  }
  PyErr_Clear();
  return sources;
}

}  // namespace shim
