#include <unistd.h>

#include "shim/python/interpreter_refs.h"
#include "shim/python/load.h"
#include "shim/python/values/encode.h"

namespace shim {
namespace {

struct Arguments {
  Ref positional;
  Ref named;  // empty: none
};

// Decoded afresh for each call, so that a call cannot change the inputs of the next.
bool decode_arguments(Reader& from, bool arrays, Arguments& arguments) {
  if (from.open(Tag::kList) != 2) _exit(kBrokenRequest);
  const uint32_t count = from.open(Tag::kList);
  if (from.broken()) _exit(kBrokenRequest);
  arguments.positional = Ref::steal(PyTuple_New(count));
  for (uint32_t i = 0; arguments.positional && i < count; ++i) {
    Ref argument = decode_argument(from, arrays);
    if (!argument) return false;
    PyTuple_SetItem(arguments.positional.get(), i, argument.release());
  }
  const uint32_t pairs = from.open(Tag::kDict);
  if (from.broken()) _exit(kBrokenRequest);
  if (pairs > 0) arguments.named = Ref::steal(PyDict_New());
  for (uint32_t i = 0; i < pairs; ++i) {
    Ref name = decode(from);
    Ref argument = name ? decode_argument(from, arrays) : Ref();
    if (!argument) return false;
    if (PyDict_SetItem(arguments.named.get(), name.get(), argument.get()) < 0) return false;
  }
  return static_cast<bool>(arguments.positional);
}

// Null with a NameError set, in the words of the interpreter.
Ref find_function(PyObject* module, std::string_view function) {
  Ref name = decode_text(function);
  if (!name) return {};
  Ref found = Ref::share(PyDict_GetItemWithError(PyModule_GetDict(module), name.get()));
  if (!found && !PyErr_Occurred()) {
    PyErr_Format(PyExc_NameError, "name '%U' is not defined", name.get());
  }
  return found;
}

Ending end_invalid(const Answer& answer, const Encoder& results) {
  Encoder payload(answer.payload(), answer.space.capacity);
  payload.open(Tag::kList, 2);
  payload.text(results.reason());
  payload.text(results.path());
  return {AnswerKind::kInvalid, payload.complete() ? payload.size() : 0, 0};
}

Ending call_all(PyObject* function, const Request& request, const Answer& answer) {
  Encoder results(answer.payload(), answer.space.capacity);
  results.open_results();
  Reader from(request.calls.bytes);
  for (uint32_t i = 0; i < request.calls.count; ++i) {
    Arguments arguments;
    Ref result;
    if (decode_arguments(from, request.arrays, arguments)) {
      result =
          Ref::steal(PyObject_Call(function, arguments.positional.get(), arguments.named.get()));
    }
    if (!result) return end_calls(answer, Stage::kRun, request.source);
    // Encoded at once: what a later call does to this object no longer counts.
    switch (results.add_result(result.get())) {
      case Encoder::Outcome::kFine:
        break;
      case Encoder::Outcome::kInvalid:
        return end_invalid(answer, results);
      case Encoder::Outcome::kRaised:
        return end_calls(answer, Stage::kRun, request.source);
    }
  }
  if (!results.complete()) return end_invalid(answer, results);
  return {AnswerKind::kValue, results.size(), 0};
}

}  // namespace

Ending run_calls(const Request& request, const Answer& answer) {
  PyObject* module = module_of_job(request.mode);
  Ref code = module ? compile_program(request.source) : Ref();
  if (!code) return end_calls(answer, Stage::kCompile, request.source);
  if (!execute(code.get(), module)) {
    return end_calls(answer, Stage::kRun, request.source);
  }
  Ref function = find_function(module, request.function);
  if (!function) return end_calls(answer, Stage::kRun, request.source);
  const Ending ending = call_all(function.get(), request, answer);
  (void)function.release();  // nothing dies before the program's threads
  return ending;
}

}  // namespace shim
