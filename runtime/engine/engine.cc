#include "runtime/engine/engine.h"

#include <signal.h>
#include <sys/resource.h>

#include <algorithm>

#include "runtime/builds/blobs.h"
#include "runtime/engine/cpus.h"
#include "runtime/engine/host_config.h"
#include "runtime/engine/shard.h"
#include "runtime/judging/refused.h"
#include "runtime/judging/suite.h"
#include "runtime/scheduler/admission/admission_queue.h"
#include "runtime/sessions/node_store.h"
#include "sandbox/supervisor.h"
#include "sandbox/sys/file.h"
#include "sandbox/sys/freed_memory.h"
#include "sandbox/sys/thread.h"

namespace runtime {

using sys::Result;

namespace {

// More cells than cores: a job that sleeps, or one that never ends, leaves its core to others.
constexpr unsigned kCellsPerCore = 2;

class PooledEngine : public Engine {
 public:
  PooledEngine(std::unique_ptr<HostConfig> config, std::shared_ptr<NodeDisk> disk, unsigned workers,
               const EngineOptions& options)
      : config_(std::move(config)),
        admission_(workers),
        nodes_(std::make_shared<NodeStore>(NodesPlan{.memory = options.nodes_memory,
                                                     .most = most_nodes(),
                                                     .idle = options.nodes_idle,
                                                     .disk = std::move(disk),
                                                     .on_disk = options.nodes_disk_size})),
        steps_stay_(options.steps_stay),
        workers_(workers),
        capacity_(workers, options.log) {
    if (!options.blobs.empty()) blobs_.emplace(options.blobs);
  }

  // With fewer threads than cores where there is no room for more.
  Result<void> open_shards(const std::vector<unsigned>& cpus) {
    const auto shards = std::min<unsigned>(workers_, static_cast<unsigned>(cpus.size()));
    const size_t of_tenants = (config_->tenant_templates() + shards - 1) / shards;
    for (unsigned i = 0; i < shards; ++i) {
      const unsigned capacity = workers_ / shards + (i < workers_ % shards ? 1 : 0);
      auto shard = std::make_unique<Shard>(*config_, admission_, capacity_, cpus[i],
                                           plan_of(capacity, of_tenants));
      Result<void> started =
          shard->start(shards_.empty() ? sys::kStartPatience : sys::Milliseconds());
      if (!started && shards_.empty()) return started;
      if (!started) {
        shards_.front()->scheduler().take_over(capacity);
        continue;
      }
      shards_.push_back(std::move(shard));
    }
    introduce_shards();
    return {};
  }

  // Others need descriptors, too.
  static size_t most_nodes() {
    rlimit files{};
    const bool is_known = ::getrlimit(RLIMIT_NOFILE, &files) == 0;
    return is_known ? std::min<size_t>(NodesPlan().most, files.rlim_cur / 4) : NodesPlan().most;
  }

  SchedulerPlan plan_of(unsigned capacity, size_t tenant_templates) const {
    return {.capacity = capacity,
            .tenant_templates = tenant_templates,
            .reruns = reruns_,
            .turns = turns_,
            .nodes = nodes_,
            .shard = static_cast<unsigned>(shards_.size()),
            .steps_stay = steps_stay_};
  }

  void introduce_shards() {
    for (std::unique_ptr<Shard>& shard : shards_) {
      std::vector<Peer*> peers;
      for (std::unique_ptr<Shard>& other : shards_) {
        if (other != shard) peers.push_back(&other->scheduler());
      }
      shard->scheduler().set_peers(std::move(peers));
    }
  }

  ~PooledEngine() override {
    for (std::unique_ptr<Shard>& shard : shards_) shard->scheduler().announce_stop();
    for (std::unique_ptr<Shard>& shard : shards_) shard->scheduler().stop();
    for (std::unique_ptr<Shard>& shard : shards_) shard->join();
  }

  void submit(Job job, std::function<void(JobResult)> done) override {
    if (job.recorded) done = with_record(job, std::move(done));
    if (Result<void> filled = fill_in(job); !filled)
      return done(refused(job, filled.error().text()));
    if (Result<void> found = find_node(job); !found)
      return done(refused(job, "session: " + found.error().text()));
    if (job.tests.empty()) return submit_run(std::move(job), std::move(done));
    Suite::Machine machine;
    machine.at_once = workers_;
    machine.run = [this](Job run, Suite::Done then) {
      submit_run(std::move(run), std::move(then));
    };
    machine.run_pair = [this](Job program, Suite::Done first, Job interactor, Suite::Done second) {
      put_pair(task_of(std::move(program), std::move(first)),
               task_of(std::move(interactor), std::move(second)));
    };
    Suite::start(std::move(job), std::move(machine), std::move(done));
  }

  void submit_pair(Job first, std::function<void(JobResult)> first_done, Job second,
                   std::function<void(JobResult)> second_done) override {
    if (workers_ < 2) {
      first_done(refused(first, "a conversation needs two workers at once"));
      return second_done(refused(second, "a conversation needs two workers at once"));
    }
    put_pair(task_of(std::move(first), std::move(first_done)),
             task_of(std::move(second), std::move(second_done)));
  }

  void put_pair(TaskPtr first, TaskPtr second) {
    admission_.put_both(std::move(first), std::move(second));
    wake_freest();
    wake_freest();
  }

  // What a step goes on from.
  Result<void> find_node(Job& job) const {
    if (!job.is_step() || job.session == kNewSession) return {};
    job.node = TRY(nodes_->find(job.session, job.tenant, sys::monotonic_now()));
    if (job.node->template_name != job.template_name)
      return sys::Error::because("\"" + job.session + "\" is of template " +
                                 job.node->template_name + ", not " + job.template_name);
    // What a node has, another profile may not be allowed to put back.
    if (job.node->profile != job.policy.profile)
      return sys::Error::because("\"" + job.session + "\" is of policy.profile " +
                                 std::string(name_of(job.node->profile)) + ", not " +
                                 std::string(name_of(job.policy.profile)));
    return {};
  }

  // Contents in the place of digests.
  Result<void> fill_in(Job& job) const {
    if (blobs_) return blobs_->of(job.tenant).fill_in(job);
    if (names_blobs(job)) return sys::Error::because("blob: this engine has no store of blobs");
    return {};
  }

  std::shared_ptr<const Origin> origin_of(const std::string& template_name) override {
    return config_->origin_of(template_name);
  }

  std::function<void(JobResult)> with_record(const Job& job, std::function<void(JobResult)> done) {
    return [record = JobRecord{job.recorded, origin_of(job.template_name)},
            done = std::move(done)](JobResult result) {
      result.record = record;
      done(std::move(result));
    };
  }

  void submit_run(Job job, std::function<void(JobResult)> done) {
    TaskPtr task = task_of(std::move(job), std::move(done));
    // Every run must read the same input.
    if (task->job.determinism_runs > 1 && task->job.stdin_fd >= 0) {
      if (auto bytes = sys::read_all(task->job.stdin_fd); bytes.ok())
        task->job.stdin_bytes = std::move(*bytes);
      task->job.stdin_fd = -1;
    }
    const std::shared_ptr<const Node> node = task->job.node;
    admission_.put(std::move(task));
    // There is a warm cell for it, perhaps.
    Scheduler* home = node ? &shards_[node->shard]->scheduler() : nullptr;
    home && home->idle() ? home->wake_if_idle() : wake_freest();
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
    Scheduler* freest = nullptr;
    for (std::unique_ptr<Shard>& shard : shards_) {
      Scheduler& each = shard->scheduler();
      if (each.idle() && (!freest || each.load() < freest->load())) freest = &each;
    }
    if (freest) freest->wake_if_idle();
  }

  unsigned workers() const override { return workers_; }

  void cancel_all() override {
    for (std::unique_ptr<Shard>& shard : shards_) shard->scheduler().cancel();
  }

  void cancel_withdrawn() override {
    for (std::unique_ptr<Shard>& shard : shards_) shard->scheduler().cancel_withdrawn();
  }

  Counts counts() const override {
    Counts all;
    for (const std::unique_ptr<Shard>& shard : shards_) {
      const Counts own = shard->scheduler().counts();
      all.cells += own.cells;
      all.templates += own.templates;
      all.cells_made += own.cells_made;
      all.forks += own.forks;
      all.tenant_templates += own.tenant_templates;
      all.tenant_templates_dropped += own.tenant_templates_dropped;
    }
    const NodeStore::Counts nodes = nodes_->counts();
    all.sessions = {nodes.nodes,   nodes.bytes,      nodes.dropped,
                    nodes.on_disk, nodes.disk_bytes, turns_->waiting()};
    for (const std::unique_ptr<Shard>& shard : shards_) {
      all.sessions.gone_on += shard->scheduler().steps_gone_on();
      all.sessions.standbys += shard->scheduler().standbys_made();
      all.sessions.stood_by += shard->scheduler().steps_stood_by();
    }
    all.rollback_failures = config_->rollbacks().failures();
    return all;
  }

  bool keeps_nodes() const override { return true; }

  void forget_nodes(const std::string& tenant, const std::vector<std::string>& ids) override {
    const std::shared_ptr<NodeTurn> turn = turns_->begin(tenant);
    for (const std::string& id : ids) nodes_->forget(id, tenant);
  }

  std::vector<std::string> why_gone(const std::string& tenant,
                                    const std::vector<std::string>& ids) override {
    std::vector<std::string> all;
    for (const std::string& id : ids) all.push_back(nodes_->why_gone(id, tenant));
    return all;
  }

  void pass_signals() override {
    for (std::unique_ptr<Shard>& shard : shards_) shard->scheduler().pass_signals();
  }

  Standing standing() const override { return {config_->level(), config_->layers()}; }

 private:
  std::unique_ptr<HostConfig> config_;
  std::optional<BlobStore> blobs_;
  AdmissionQueue admission_;
  const std::shared_ptr<NodeStore> nodes_;
  const sys::Nanoseconds steps_stay_;
  // A step that waited for memory is the first again.
  const std::shared_ptr<NodeTurns> turns_ = std::make_shared<NodeTurns>([this](TaskPtr task) {
    admission_.put_back(std::move(task));
    wake_freest();
  });
  const std::shared_ptr<RerunBudget> reruns_ = std::make_shared<RerunBudget>();
  const unsigned workers_;
  Capacity capacity_;
  std::vector<std::unique_ptr<Shard>> shards_;
};

}  // namespace

void Engine::submit_pair(Job first, std::function<void(JobResult)> first_done, Job second,
                         std::function<void(JobResult)> second_done) {
  first_done(refused(first, "this engine has no conversations"));
  second_done(refused(second, "this engine has no conversations"));
}

sys::Result<std::unique_ptr<Engine>> Engine::start(EngineOptions options) {
  ::signal(SIGPIPE, SIG_IGN);  // a program that closes its stdin is no reason to die
  const std::vector<unsigned> cpus = cpus_for_shards();
  if (options.workers == 0) options.workers = kCellsPerCore * static_cast<unsigned>(cpus.size());
  std::unique_ptr<HostConfig> config = TRY(HostConfig::create(options));
  std::shared_ptr<NodeDisk> disk;
  if (!options.nodes_disk.empty()) {
    auto opened = NodeDisk::open(options.nodes_disk);
    if (!opened) return sys::Error::because("nodes_disk: " + opened.error().text());
    disk = std::move(opened).value();
  }
  sys::give_back_freed_memory();
  // After the probes, before threads and bytes of strangers.
  TRY(sandbox::harden_supervisor(options.without, options.borrows_memory));
  auto engine =
      std::make_unique<PooledEngine>(std::move(config), std::move(disk), options.workers, options);
  TRY(engine->open_shards(cpus));
  return std::unique_ptr<Engine>(std::move(engine));
}

}  // namespace runtime
