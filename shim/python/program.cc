#include "shim/python/program.h"

#include <unistd.h>

#include <new>

#include "shim/python/audit.h"
#include "shim/python/ending.h"
#include "shim/python/load.h"
#include "shim/python/setup.h"

namespace shim {
namespace {

Ending run(Request& request, const Answer& answer) {
  if (!reseed() || !refresh_thread() || !place_files(request.files) ||
      !set_surroundings(request, answer.space.home) || !decode_source(request)) {
    return end_script(answer, Stage::kCompile, request.source);
  }
  start_audit(answer.space.region);
  return request.mode == Mode::kScript ? run_script(request, answer) : run_calls(request, answer);
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

}  // namespace

bool executes_programs() { return false; }
bool runs_in_place() { return true; }

void run_program(std::string_view request, AnswerSpace space) {
  const Answer answer{space, getpid()};
  space.region->header = {};
  space.region->note = {};
  auto parsed = parse_request(request);
  if (!parsed || parsed->mode > Mode::kCall) _exit(kBrokenRequest);
  restore_signals();
  Ending ending;
  try {
    ending = run(*parsed, answer);
  } catch (const std::bad_alloc&) {
    ending = out_of_memory(answer);
  }
  finish(answer, ending);
}

}  // namespace shim
