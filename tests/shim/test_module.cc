// `_zygo_test`: the program runner as a module that forks its own interpreter, for tests and for
// measurements. No sandbox is involved.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "sandbox/sys/fd.h"
#include "sandbox/sys/file.h"
#include "shim/python/program.h"
#include "shim/python/ref.h"

namespace {

constexpr uint64_t kNonce = 0x1122334455667788;
constexpr auto kPatience = std::chrono::seconds(20);

class Region {
 public:
  explicit Region(size_t capacity) : size_(sizeof(shim::AnswerRegion) + capacity) {
    map_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  ~Region() { munmap(map_, size_); }

  shim::AnswerRegion& head() const { return *static_cast<shim::AnswerRegion*>(map_); }
  const char* payload() const { return static_cast<const char*>(map_) + sizeof head(); }
  shim::AnswerSpace space() const { return {&head(), size_ - sizeof head(), kNonce}; }

 private:
  size_t size_;
  void* map_;
};

struct Options {
  const char* directory = "/";
  std::string_view input;
  std::vector<std::pair<int, rlim_t>> limits;
};

struct Pipes {
  sys::Pipe in, out, err;
};

void attach(const sys::OwnedFd& from, int to) { dup2(from.get(), to); }

[[noreturn]] void run_child(const Pipes& pipes, const Options& options, std::string_view request,
                            shim::AnswerSpace space) {
  attach(pipes.in.reader, 0);
  attach(pipes.out.writer, 1);
  attach(pipes.err.writer, 2);
  close_range(3, ~0U, 0);
  if (chdir(options.directory) < 0) _exit(71);
  for (const auto& [resource, value] : options.limits) {
    const rlimit limit{value, value};
    setrlimit(static_cast<__rlimit_resource>(resource), &limit);
  }
  signal(SIGPIPE, SIG_DFL);
  signal(SIGINT, SIG_DFL);
  if (!shim::leave_bootstrap()) _exit(72);
  shim::run_program(request, space);
}

// Moves what can be moved; true while there is more to come.
bool drain(pollfd& entry, std::string& into) {
  char chunk[65536];
  const ssize_t got = read(entry.fd, chunk, sizeof chunk);
  if (got <= 0) {
    entry.fd = -1;
    return false;
  }
  into.append(chunk, static_cast<size_t>(got));
  return true;
}

int collect(pid_t child, Pipes& pipes, std::string_view input, std::string& out, std::string& err) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  pipes.in.reader.reset();
  pipes.out.writer.reset();
  pipes.err.writer.reset();
  fcntl(pipes.in.writer.get(), F_SETFL, O_NONBLOCK);
  pollfd entries[] = {{pipes.out.reader.get(), POLLIN, 0},
                      {pipes.err.reader.get(), POLLIN, 0},
                      {pipes.in.writer.get(), POLLOUT, 0}};
  while (entries[0].fd >= 0 || entries[1].fd >= 0) {
    if (std::chrono::steady_clock::now() > deadline) kill(child, SIGKILL);
    poll(entries, 3, 100);
    if (entries[0].revents != 0) drain(entries[0], out);
    if (entries[1].revents != 0) drain(entries[1], err);
    if (entries[2].revents != 0) {
      const ssize_t sent = write(entries[2].fd, input.data(), input.size());
      if (sent > 0) input.remove_prefix(static_cast<size_t>(sent));
      if (sent < 0 || input.empty()) {
        pipes.in.writer.reset();
        entries[2].fd = -1;
      }
    }
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

bool read_options(PyObject* named, Options& options, const char*& bytes, Py_ssize_t& size,
                  Py_ssize_t& capacity) {
  static const char* const names[] = {"request", "capacity", "directory",
                                      "stdin",   "limits",   nullptr};
  const char* input = "";
  Py_ssize_t input_size = 0;
  PyObject* limits = nullptr;
  shim::Ref none = shim::Ref::steal(PyTuple_New(0));
  if (!PyArg_ParseTupleAndKeywords(none.get(), named, "|$y#nsy#O", const_cast<char**>(names),
                                   &bytes, &size, &capacity, &options.directory, &input,
                                   &input_size, &limits)) {
    return false;
  }
  options.input = {input, static_cast<size_t>(input_size)};
  for (Py_ssize_t i = 0; limits && i < PyList_Size(limits); ++i) {
    int resource = 0;
    unsigned long long value = 0;
    if (!PyArg_ParseTuple(PyList_GetItem(limits, i), "iK", &resource, &value)) return false;
    options.limits.emplace_back(resource, value);
  }
  return true;
}

PyObject* run_for_test(PyObject* /*self*/, PyObject* /*none*/, PyObject* named) {
  Options options;
  const char* bytes = "";
  Py_ssize_t size = 0;
  Py_ssize_t capacity = 1 << 20;
  if (!read_options(named, options, bytes, size, capacity)) return nullptr;
  Region region(static_cast<size_t>(capacity));
  auto in = sys::make_pipe(), out = sys::make_pipe(), err = sys::make_pipe();
  if (!in.ok() || !out.ok() || !err.ok()) return PyErr_SetFromErrno(PyExc_OSError);
  Pipes pipes{std::move(*in), std::move(*out), std::move(*err)};
  shim::reseed_in_memory();
  const pid_t child = fork();
  if (child < 0) return PyErr_SetFromErrno(PyExc_OSError);
  if (child == 0) {
    run_child(pipes, options, {bytes, static_cast<size_t>(size)}, region.space());
  }
  std::string out_bytes, err_bytes;
  const int status = collect(child, pipes, options.input, out_bytes, err_bytes);
  const shim::AnswerRegion& head = region.head();
  const bool answered = head.header.nonce == kNonce;
  const Py_ssize_t answer_size = answered ? static_cast<Py_ssize_t>(head.header.size) : 0;
  return Py_BuildValue(
      "iIy#(Kis)y#y#", status, answered ? static_cast<unsigned>(head.header.kind) : 0U,
      region.payload(), answer_size, static_cast<unsigned long long>(head.note.count),
      head.note.line, head.note.event, out_bytes.data(), static_cast<Py_ssize_t>(out_bytes.size()),
      err_bytes.data(), static_cast<Py_ssize_t>(err_bytes.size()));
}

struct Cost {
  double microseconds;  // of fork, child and wait
  double processor;     // of the child alone
  long faults;          // of the child
};

// Makes every page of this process present and its own, as a cell that knows which pages its jobs
// write would do with the few that matter: what remains is the work itself.
void populate() {
  constexpr int kPopulateRead = 22, kPopulateWrite = 23;
  FILE* maps = std::fopen("/proc/self/maps", "re");
  char line[512];
  while (maps && std::fgets(line, sizeof line, maps)) {
    unsigned long start = 0, end = 0;
    char rights[8] = "";
    if (std::sscanf(line, "%lx-%lx %7s", &start, &end, rights) != 3) continue;
    void* area = reinterpret_cast<void*>(start);
    if (rights[1] == 'w' && rights[3] == 'p') madvise(area, end - start, kPopulateWrite);
    if (rights[1] != 'w' && rights[0] == 'r') madvise(area, end - start, kPopulateRead);
  }
  std::fclose(maps);
}

// A child that runs the request, or only exits.
Cost once(std::string_view request, const Region& region, bool runs, bool populated) {
  const auto start = std::chrono::steady_clock::now();
  shim::reseed_in_memory();
  const pid_t child = fork();
  if (child == 0) {
    if (populated) populate();
    if (runs) shim::run_program(request, region.space());
    _exit(0);
  }
  int status = 0;
  rusage used{};
  wait4(child, &status, 0, &used);
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  const auto microseconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
  };
  return {took.count(), microseconds(used.ru_utime) + microseconds(used.ru_stime), used.ru_minflt};
}

// The lower quartile of each column: a loaded machine only ever adds.
PyObject* summary(std::vector<Cost>& costs) {
  const auto quartile = static_cast<long>(costs.size() / 4);
  const auto pick = [&](auto column) {
    std::nth_element(costs.begin(), costs.begin() + quartile, costs.end(),
                     [&](const Cost& a, const Cost& b) { return a.*column < b.*column; });
    return costs[static_cast<size_t>(quartile)].*column;
  };
  return Py_BuildValue("ddl", pick(&Cost::microseconds), pick(&Cost::processor),
                       pick(&Cost::faults));
}

// measure(request, rounds, populated=False) -> ((us, processor us, faults) of fork and exit, the
// same of fork and run), taken in turn.
PyObject* measure(PyObject* /*self*/, PyObject* arguments) {
  const char* bytes = nullptr;
  Py_ssize_t size = 0;
  int rounds = 0;
  int populated = 0;
  if (!PyArg_ParseTuple(arguments, "y#i|p", &bytes, &size, &rounds, &populated)) return nullptr;
  const Region region(1 << 20);
  const std::string request(bytes, static_cast<size_t>(size));
  std::vector<Cost> bare, running;
  for (int i = 0; i < rounds; ++i) {
    bare.push_back(once(request, region, false, populated != 0));
    running.push_back(once(request, region, true, populated != 0));
  }
  return Py_BuildValue("NN", summary(bare), summary(running));
}

PyObject* prepare(PyObject* /*self*/, PyObject* /*none*/) {
  if (!shim::prepare_interpreter()) return nullptr;
  Py_INCREF(Py_None);
  return Py_None;
}

PyMethodDef functions[] = {
    {"prepare", prepare, METH_NOARGS, nullptr},
    {"run_for_test", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(run_for_test)),
     METH_VARARGS | METH_KEYWORDS, nullptr},
    {"measure", measure, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef module = {PyModuleDef_HEAD_INIT,
                      "_zygo_test",
                      nullptr,
                      -1,
                      functions,
                      nullptr,
                      nullptr,
                      nullptr,
                      nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__zygo_test() { return PyModule_Create(&module); }
