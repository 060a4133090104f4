#pragma once
// Machine: what the scheduler may ask of the thread that carries it. Everything that needs a clock,
// a loop, a descriptor or a process stands behind it: Shard implements it on libuv and the kernel,
// and the unit tests with a fake clock and fake processes. What comes back comes as an event of the
// scheduler, in a turn of its own unless stated otherwise. Used on one thread, but for wake().

#include <cstdint>
#include <functional>
#include <memory>

#include "runtime/cell/handles.h"
#include "runtime/scheduler/task.h"
#include "sandbox/sys/result.h"
#include "sandbox/sys/units.h"

namespace runtime {

struct TemplateSpec;

class Machine {
 public:
  // So many bytes are read, compared or written before another thread would have begun.
  static constexpr size_t kShort = size_t{64} << 10;

  virtual ~Machine() = default;

  virtual sys::Nanoseconds now() const = 0;  // monotonic
  virtual void wake() = 0;                   // Scheduler::turn() follows; any thread
  // Scheduler::turn() follows after `delay`; another call takes the place of the one before.
  virtual void ask_again(sys::Nanoseconds delay) = 0;
  // Likewise Scheduler::drop_aged().
  virtual void age_again(sys::Nanoseconds delay) = 0;
  // Likewise Scheduler::vacate_idle().
  virtual void vacate_again(sys::Nanoseconds delay) = 0;
  // Likewise Scheduler::stand_by().
  virtual void stand_by_again(sys::Nanoseconds delay) = 0;
  // Scheduler::stop() was called and nothing is left to wait for.
  virtual void finished() = 0;

  // `changed` is called when the state leaves kStarting, and again if a ready template dies. An
  // error is the kernel's: nothing was started.
  virtual sys::Result<std::unique_ptr<TemplateHandle>> start_template(
      const TemplateSpec& spec, TemplateVariant variant, std::function<void()> changed) = 0;
  // From `parent`, which is ready, or starting: it is then forked as soon as the template can. An
  // error names the resource that is missing; EPIPE or ECONNRESET: the template is gone, which is
  // about to be heard. No event comes before this has returned.
  virtual sys::Result<std::unique_ptr<CellHandle>> order_cell(TemplateHandle& parent,
                                                              const TemplateSpec& spec,
                                                              const CellShape& shape,
                                                              CellEvents events) = 0;
  // Likewise, from a process that another scheduler of the engine owns, and that is ready.
  virtual sys::Result<std::unique_ptr<CellHandle>> order_cell_of(Incarnation& of,
                                                                 const TemplateSpec& spec,
                                                                 const CellShape& shape,
                                                                 CellEvents events) = 0;
  // Sets the task's `input` and `stdin_fd` for its next run.
  virtual sys::Result<void> open_input(Task& task) = 0;
  // Runs what the task's current() asks for. The cell may say that it has finished, and the task
  // may be gone, before this returns.
  virtual void run(CellHandle& cell, Task& task) = 0;

  // `work` on another thread, which owns what it uses, and then `done`, if there is any, here.
  virtual void aside(std::function<void()> work, std::function<void()> done) = 0;
  // How often the kernel has killed for want of memory in the group that we live in.
  virtual uint64_t oom_kills() const = 0;
};

// Another scheduler of the same engine. Thread-safe.
class Peer {
 public:
  virtual ~Peer() = default;
  virtual unsigned load() const = 0;  // tasks between admission and reply
  virtual bool has_room() const = 0;
  virtual bool takes_in() const = 0;  // it has room, and does not wait before it uses it: pace.h
  virtual bool has_templates() const = 0;
  virtual void wake() = 0;
  virtual void wake_if_idle() = 0;
  virtual void ask_back() = 0;  // what is idle there is room for others
};

}  // namespace runtime
