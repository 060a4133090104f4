#include "runtime/engine.h"

#include <sched.h>
#include <signal.h>

#include <algorithm>

#include "runtime/blobs.h"
#include "runtime/setting.h"
#include "runtime/shard.h"
#include "runtime/suite.h"
#include "runtime/task.h"
#include "sandbox/supervisor.h"
#include "sandbox/sys/file.h"

namespace runtime {

using sys::Result;

namespace {

// More cells than cores: a job that sleeps, or one that never ends, leaves its core to others.
constexpr unsigned kCellsPerCore = 2;

std::vector<unsigned> usable_cpu_numbers() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<unsigned> cpus;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) {
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    }
  }
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

class PooledEngine : public Engine {
 public:
  PooledEngine(std::unique_ptr<Setting> setting, unsigned workers, const std::string& blobs)
      : setting_(std::move(setting)) {
    if (!blobs.empty()) blobs_.emplace(blobs);
    std::vector<unsigned> cpus = usable_cpu_numbers();
    if (workers == 0) workers = kCellsPerCore * static_cast<unsigned>(cpus.size());
    workers_ = workers;
    unsigned shards = std::min<unsigned>(workers, static_cast<unsigned>(cpus.size()));
    for (unsigned i = 0; i < shards; ++i) {
      unsigned capacity = workers / shards + (i < workers % shards ? 1 : 0);
      shards_.push_back(
          std::make_unique<Shard>(*setting_, admission_, ShardPlan{cpus[i], true, capacity}));
    }
    for (std::unique_ptr<Shard>& shard : shards_) {
      std::vector<Shard*> peers;
      for (std::unique_ptr<Shard>& other : shards_) {
        if (other != shard) peers.push_back(other.get());
      }
      shard->set_peers(std::move(peers));
    }
  }

  ~PooledEngine() override {
    for (std::unique_ptr<Shard>& shard : shards_) shard->stop();
    for (std::unique_ptr<Shard>& shard : shards_) shard->join();
  }

  void submit(Job job, std::function<void(JobResult)> done) override {
    if (Result<void> filled = fill_in(job); !filled)
      return done(refused(job, filled.error().text()));
    if (job.tests.empty()) return submit_run(std::move(job), std::move(done));
    Suite::Machine machine;
    machine.at_once = workers_;
    machine.run = [this](Job run, Suite::Done then) {
      submit_run(std::move(run), std::move(then));
    };
    machine.run_pair = [this](Job program, Suite::Done first, Job interactor, Suite::Done second) {
      admission_.put_both(task_of(std::move(program), std::move(first)),
                          task_of(std::move(interactor), std::move(second)));
      wake_freest();
      wake_freest();
    };
    Suite::start(std::move(job), std::move(machine), std::move(done));
  }

  // Contents in the place of digests.
  Result<void> fill_in(Job& job) const {
    if (blobs_) return blobs_->fill_in(job);
    const bool named = !job.source_blob.empty() ||
                       std::any_of(job.files.begin(), job.files.end(),
                                   [](const InputFile& file) { return !file.blob.empty(); });
    if (named) return sys::Error::because("blob: this engine has no store of blobs");
    return {};
  }

  static JobResult refused(const Job& job, const std::string& message) {
    JobResult result;
    result.id = job.id;
    result.tag = job.tag;
    result.verdict = {Outcome::kBadJob, "", By::kCaller, {{"message", message}}};
    return result;
  }

  void submit_run(Job job, std::function<void(JobResult)> done) {
    TaskPtr task = task_of(std::move(job), std::move(done));
    // Every run must read the same input.
    if (task->job.determinism_runs > 1 && task->job.stdin_fd >= 0) {
      if (auto bytes = sys::read_all(task->job.stdin_fd); bytes.ok())
        task->job.stdin_bytes = std::move(*bytes);
      task->job.stdin_fd = -1;
    }
    admission_.put(std::move(task));
    wake_freest();
  }

  static TaskPtr task_of(Job job, std::function<void(JobResult)> done) {
    auto task = std::make_unique<Task>();
    task->accepted_at = sys::monotonic_now();
    task->job = std::move(job);
    task->done = std::move(done);
    return task;
  }

  void wake_freest() {
    // The least loaded of the idle; when none is, all are busy and take it as they get room.
    Shard* freest = nullptr;
    for (std::unique_ptr<Shard>& shard : shards_) {
      if (shard->idle() && (!freest || shard->load() < freest->load())) freest = shard.get();
    }
    if (freest) freest->wake_if_idle();
  }

  unsigned workers() const override { return workers_; }

  void cancel_all() override {
    for (std::unique_ptr<Shard>& shard : shards_) shard->cancel();
  }

  void cancel_withdrawn() override {
    for (std::unique_ptr<Shard>& shard : shards_) shard->cancel_withdrawn();
  }

  Standing standing() const override { return {setting_->level(), setting_->layers()}; }

 private:
  std::unique_ptr<Setting> setting_;
  std::optional<BlobStore> blobs_;
  Admission admission_;
  std::vector<std::unique_ptr<Shard>> shards_;
  unsigned workers_ = 0;
};

}  // namespace

sys::Result<std::unique_ptr<Engine>> Engine::start(EngineOptions options) {
  ::signal(SIGPIPE, SIG_IGN);  // a program that closes its stdin is no reason to die
  unsigned workers = options.workers;
  std::unique_ptr<Setting> setting = TRY(Setting::create(options));
  // After the probes, before threads and bytes of strangers.
  TRY(sandbox::harden_supervisor(options.without));
  return std::unique_ptr<Engine>(
      std::make_unique<PooledEngine>(std::move(setting), workers, options.blobs));
}

}  // namespace runtime
