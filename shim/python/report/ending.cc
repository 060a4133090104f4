#include "shim/python/report/ending.h"

#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "shim/next_step.h"
#include "shim/python/audit.h"
#include "shim/python/interpreter_refs.h"
#include "shim/python/setup.h"
#include "shim/python/steps/process_state.h"
#include "shim/python/steps/sqlite_files.h"
#include "shim/python/threads.h"

namespace shim {
namespace {

void (*before_exit)() = nullptr;  // of a trial in the template; null in jobs

void write_raw(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

// Writes to the program's sys.stderr, as CPython would.
void write_stderr(std::string_view text) {
  PyObject* current = PySys_GetObject("stderr");
  if (!current || current == Py_None) return;
  if (current != refs().err) {
    Ref held = Ref::share(current);
    Ref content = decode_text(text);
    if (content && Ref::steal(PyObject_CallMethod(current, "write", "O", content.get()))) return;
  } else {
    call(refs().text_flush, refs().err);
  }
  PyErr_Clear();
  write_raw(text);
}

// None: 0. An integer: its low byte, as the kernel keeps it. Anything else is printed: 1.
int exit_code_of(PyObject* exception) {
  Ref code = field(refs().exit_code, exception);
  if (!code) return 0;
  if (PyLong_Check(code.get())) {
    int overflow = 0;
    const long number = PyLong_AsLongAndOverflow(code.get(), &overflow);
    return overflow == 0 ? static_cast<int>(number & 0xFF) : 0xFF;
  }
  static char buffer[kMaxMessage];
  BoundedText text(buffer);
  add_message(text, code.get(), kMaxMessage);
  write_stderr(text.view());
  write_stderr("\n");
  return 1;
}

void report_broken_hook(const Testimony& original, std::string_view source) {
  static char buffer[kMaxTraceback];
  Ref failure = take_exception();
  BoundedText text(buffer);
  if (failure) format_exception(text, failure.get(), source);
  write_stderr("Error in sys.excepthook:\n");
  write_stderr(text.view());
  write_stderr("\nOriginal exception was:\n");
  write_stderr(original.traceback);
}

void show(PyObject* exception, const Testimony& testimony, std::string_view source) {
  Ref hook = Ref::share(PySys_GetObject("excepthook"));
  if (!hook || hook.get() == refs().system_excepthook) return write_stderr(testimony.traceback);
  Ref traceback = Ref::steal(PyException_GetTraceback(exception));
  Ref done = call(hook.get(), reinterpret_cast<PyObject*>(Py_TYPE(exception)), exception,
                  traceback ? traceback.get() : Py_None);
  if (!done) report_broken_hook(testimony, source);
}

enum class Show : uint8_t { kNo, kYes };

Ending end(const Answer& answer, Stage stage, std::string_view source, AnswerKind exit,
           Show shown) {
  release_reserve();
  Ref exception = take_exception();
  if (!exception) return {exit, 0, 1};
  if (PyErr_GivenExceptionMatches(exception.get(), PyExc_SystemExit)) {
    return {exit, 0, exit_code_of(exception.get())};
  }
  const Testimony testimony = describe(exception.get(), stage, source);
  if (shown == Show::kYes) show(exception.get(), testimony, source);
  const size_t size = write_testimony(testimony, answer.payload(), answer.space.capacity);
  return {AnswerKind::kException, size, 1};
}

// Flushes the stream that the program calls sys.stdout now, unless it is ours.
void flush_current(const char* name, PyObject* ours) {
  Ref stream = Ref::share(PySys_GetObject(name));
  if (stream && stream.get() != ours && stream.get() != Py_None) {
    Ref::steal(PyObject_CallMethod(stream.get(), "flush", nullptr));
  }
  PyErr_Clear();
}

// Files that the program left open would lose what they hold, for the interpreter is not finalized.
// The heap of the template is frozen, so these are the program's own objects: text first, since it
// sits on top of binary.
void flush_open_files() {
  const InterpreterRefs& k = refs();
  Ref objects = call(k.gc_objects);
  PyErr_Clear();
  if (!objects || !PyList_Check(objects.get())) return;
  const struct {
    PyTypeObject* type;
    PyObject* flush;
  } rounds[] = {{k.text_type, k.text_flush},
                {k.writer_type, k.writer_flush},
                {k.random_file_type, k.random_flush}};
  for (const auto& round : rounds) {
    for (Py_ssize_t i = 0; i < PyList_Size(objects.get()); ++i) {
      PyObject* object = PyList_GetItem(objects.get(), i);
      if (!PyObject_TypeCheck(object, round.type)) continue;
      call(round.flush, object);
      PyErr_Clear();
    }
  }
}

void flush_everything() {
  const InterpreterRefs& k = refs();
  flush_current("stdout", k.out);
  flush_current("stderr", k.err);
  call(k.text_flush, k.out);
  PyErr_Clear();
  call(k.text_flush, k.err);
  PyErr_Clear();
  if (opened_for_writing()) flush_open_files();
  std::fflush(nullptr);
}

void write_answer(const Answer& answer, const Ending& ending) {
  if (getpid() != answer.owner) return;
  AnswerHeader& header = answer.space.region->header;
  header.kind = ending.kind;
  header.size = static_cast<uint32_t>(ending.size);
  header.code = ending.code;
  std::atomic_ref<uint64_t>(header.nonce).store(answer.space.nonce, std::memory_order_release);
}

}  // namespace

Ending end_script(const Answer& answer, Stage stage, std::string_view source) {
  return end(answer, stage, source, AnswerKind::kFinished, Show::kYes);
}

Ending end_calls(const Answer& answer, Stage stage, std::string_view source) {
  return end(answer, stage, source, AnswerKind::kExited, Show::kNo);
}

void finish(const Answer& answer, const Ending& ending) {
  constexpr int kUsualRecursionLimit = 1000;
  Py_SetRecursionLimit(kUsualRecursionLimit);
  if (threads_need_joining()) call(refs().threading_shutdown);
  PyErr_Clear();
  call(refs().run_exitfuncs);
  PyErr_Clear();
  if (has_grown(refs().logging_handlers, refs().logging_handler_count)) {
    call(refs().logging_shutdown);
  }
  PyErr_Clear();
  flush_everything();
  write_answer(answer, ending);
  if (before_exit) before_exit();
  _exit(ending.code);
}

// Nobody else can see such a timer (setitimer(2)).
static bool has_timer() {
  for (const auto which : {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF}) {
    itimerval timer{};
    const bool is_set = ::getitimer(which, &timer) == 0 && timerisset(&timer.it_value);
    if (is_set) return true;
  }
  return false;
}

void rest(const Answer& answer, const Ending& ending) {
  end_threads();
  flush_everything();
  note_process_state();
  note_files_of_sqlite();
  AnswerHeader& header = answer.space.region->header;
  header.has_timer = has_timer();
  header.end_of_heap = static_cast<uint64_t>(::syscall(SYS_brk, 0));
  write_answer(answer, ending);
  if (getpid() != answer.owner) _exit(ending.code);
  ::kill(answer.owner, SIGSTOP);
  if (next_step_of(answer.space.region, answer.space.region_bytes)->nonce == 0) _exit(ending.code);
}

void set_before_exit(void (*hook)()) { before_exit = hook; }

}  // namespace shim
