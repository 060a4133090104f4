#pragma once
// Shard: one thread, one loop, one CPU, with the templates and cells that run there. It carries a
// Scheduler, which decides, and does for it what needs the loop, the clock or the kernel.

#include <memory>
#include <thread>

#include "runtime/cell/cell.h"
#include "runtime/engine/host_config.h"
#include "runtime/loop/helpers.h"
#include "runtime/loop/loop.h"
#include "runtime/loop/mailbox.h"
#include "runtime/scheduler/scheduler.h"

namespace runtime {

class Shard : private Machine {
 public:
  // Pinned to `cpu`, with all its processes.
  Shard(HostConfig& config, AdmissionQueue& admission, Capacity& capacity, unsigned cpu,
        SchedulerPlan plan);
  // After Scheduler::stop() and join() of this shard and all its peers, who may still be waking it.
  ~Shard() override;
  // Starts its thread; then the rest may be called.
  sys::Result<void> start(sys::Milliseconds patience);
  void join();  // not from the shard's own thread

  Scheduler& scheduler() { return scheduler_; }
  const Scheduler& scheduler() const { return scheduler_; }

 private:
  void carry();

  sys::Nanoseconds now() const override;
  void wake() override;
  void ask_again(sys::Nanoseconds delay) override;
  void age_again(sys::Nanoseconds delay) override;
  void vacate_again(sys::Nanoseconds delay) override;
  void stand_by_again(sys::Nanoseconds delay) override;
  void finished() override;
  sys::Result<std::unique_ptr<TemplateHandle>> start_template(
      const TemplateSpec& spec, TemplateVariant variant, std::function<void()> changed) override;
  sys::Result<std::unique_ptr<CellHandle>> order_cell(TemplateHandle& parent,
                                                      const TemplateSpec& spec,
                                                      const CellShape& shape,
                                                      CellEvents events) override;
  sys::Result<std::unique_ptr<CellHandle>> order_cell_of(Incarnation& of, const TemplateSpec& spec,
                                                         const CellShape& shape,
                                                         CellEvents events) override;
  sys::Result<CellPlan> plan_cell(const TemplateSpec& spec, const CellShape& shape, bool in_place);
  sys::Result<void> open_input(Task& task) override;
  void run(CellHandle& cell, Task& task) override;
  void aside(std::function<void()> work, std::function<void()> done) override;
  uint64_t oom_kills() const override;

  HostConfig& config_;
  const unsigned cpu_, capacity_;
  std::unique_ptr<Loop> loop_;
  std::unique_ptr<Wakeup> wakeup_;
  std::unique_ptr<Mailbox> mailbox_;
  std::unique_ptr<Terminator> terminator_;
  std::unique_ptr<Helpers> helpers_;
  Crowd crowd_;
  std::unique_ptr<Timer> ask_again_;       // while the capacity is narrow
  std::unique_ptr<Timer> vacate_again_;    // while processes of steps stay
  std::unique_ptr<Timer> stand_by_again_;  // while others may be worth having
  std::unique_ptr<Timer> age_again_;       // while there are templates of tenants
  Scheduler scheduler_;
  std::thread thread_;
};

}  // namespace runtime
