// Random histories: jobs arrive, are withdrawn and cancelled, templates and cells start and die in
// any order, the machine runs out of room and has it again, and threads beside the loop come back
// late. Whatever happens, each job is answered exactly once, and no scheduler stands still.
// ZYGO_HISTORY=SEED runs the history of one seed alone, ZYGO_HISTORIES=COUNT more than 1,000.

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "runtime/sessions/node_store.h"
#include "tests/unit/runtime/scheduler/fake_machine.h"

namespace runtime {
namespace {

using namespace std::chrono_literals;
using Action = std::function<void()>;

constexpr uint64_t kPage = 4096;

std::shared_ptr<NodeDisk> disk_in_tmp() { return NodeDisk::open("/tmp").value(); }

// One scheduler and what carries it.
struct Seat {
  fake::FakeMachine machine;
  std::unique_ptr<Scheduler> scheduler;
};

class History {
 public:
  explicit History(unsigned seed)
      : random_(seed),
        workers_(static_cast<unsigned>(1 + one_of(4))),
        admission_(workers_),
        capacity_(workers_, {}),
        seats_(workers_ > 1 ? 1 + one_of(2) : 1) {
    catalogue_.early_cells = one_of(2) == 0;
    const auto count = static_cast<unsigned>(seats_.size());
    for (unsigned i = 0; i < count; ++i) {
      const unsigned own = workers_ / count + (i < workers_ % count ? 1 : 0);
      seats_[i].scheduler =
          std::make_unique<Scheduler>(seats_[i].machine, catalogue_, admission_, capacity_,
                                      SchedulerPlan{own, 1, {}, turns_, nodes_, i});
    }
    if (count == 2) {
      seats_[0].scheduler->set_peers({seats_[1].scheduler.get()});
      seats_[1].scheduler->set_peers({seats_[0].scheduler.get()});
    }
  }
  ~History() {
    for (Seat& seat : seats_) seat.scheduler->end_all();
  }

  void live(unsigned steps) {
    for (unsigned step = 0; step < steps; ++step) {
      std::vector<Action> possible = what_arrives();
      add_progress(possible);
      add_trouble(possible);
      possible[one_of(possible.size())]();
      check_load();
    }
  }

  unsigned templates_dropped_alive() const {
    unsigned sum = 0;
    for (const Seat& seat : seats_) sum += seat.machine.dropped_alive;
    return sum;
  }

  unsigned templates_ended_under_jobs() const {
    unsigned sum = 0;
    for (const Seat& seat : seats_) sum += seat.machine.ended_under_jobs;
    return sum;
  }

  // All trouble is over, and what has come is answered. False: everybody waits for somebody else.
  bool settle() {
    for (Seat& seat : seats_) seat.machine.template_error = seat.machine.cell_error = 0;
    for (unsigned steps = 0; steps < 20'000 && unanswered() > 0; ++steps) {
      std::vector<Action> possible;
      add_progress(possible);
      if (possible.empty()) return false;
      possible[one_of(possible.size())]();
      check_load();
    }
    return unanswered() == 0;
  }

  bool stop() {
    for (Seat& seat : seats_) seat.scheduler->stop();
    for (unsigned steps = 0; steps < 5'000; ++steps) {
      std::vector<Action> possible;
      add_progress(possible);
      if (possible.empty()) break;
      possible[one_of(possible.size())]();
    }
    return std::all_of(seats_.begin(), seats_.end(),
                       [](const Seat& seat) { return seat.machine.is_finished; });
  }

  const fake::FakeClient& client() const { return client_; }
  std::string state() {
    std::string all = admission_.empty() ? "\nthe queue is empty" : "\nthe queue is not empty";
    all += ", the pool has room for " + std::to_string(capacity_.width());
    for (const Seat& seat : seats_) {
      all += "\nload " + std::to_string(seat.scheduler->load()) +
             (seat.scheduler->idle() ? ", idle" : ", busy") +
             (seat.machine.woken ? ", woken" : "") + (seat.machine.ask_at ? ", will ask" : "") +
             "; templates:";
      for (const fake::FakeTemplate* each : seat.machine.templates)
        all += " " + std::to_string(static_cast<int>(each->state()));
      all += "; cells:";
      for (const fake::FakeCell* cell : seat.machine.cells)
        all += " " + std::to_string(static_cast<int>(cell->state()));
    }
    return all;
  }
  unsigned load() const {
    unsigned all = 0;
    for (const Seat& seat : seats_) all += seat.scheduler->load();
    return all;
  }

 private:
  size_t one_of(size_t count) {
    return std::uniform_int_distribution<size_t>(0, count - 1)(random_);
  }
  bool chance(unsigned percent) { return one_of(100) < percent; }

  size_t unanswered() const {
    size_t count = 0;
    for (const auto& [id, results] : client_.answers) count += results.empty() ? 1 : 0;
    return count;
  }
  void check_load() {
    for (const Seat& seat : seats_) {
      size_t running = 0;
      for (const fake::FakeCell* cell : seat.machine.cells) {
        if (cell->from) check_state(*cell->from);
        running += cell->state() == CellHandle::State::kRunning ? 1 : 0;
      }
      if (running > seat.scheduler->load()) FAIL("more runs than was let in");
    }
  }

  Job any_job() {
    Job job;
    job.id = std::to_string(next_++);
    job.template_name = chance(30) ? "c" : "python";
    job.source = "source " + std::to_string(one_of(3));
    if (chance(20)) job.tenant = "tenant " + std::to_string(one_of(3));
    if (chance(15)) job.determinism_runs = 2;
    if (chance(10)) job.deadline = 50ms;
    if (chance(10)) job.priority = 1;
    if (chance(5)) job.template_name = "fortran";
    if (chance(5)) job.build_only = true;
    if (chance(40)) become_step(job);
    if (chance(30)) {
      job.watch = std::make_shared<JobWatch>();
      watches_.push_back(job.watch);
    }
    return job;
  }

  // The first of a session, or one that goes on from what an earlier one has left.
  void become_step(Job& job) {
    job.determinism_runs = 1;
    job.build_only = false;
    job.template_name = "python";
    job.session = kNewSession;
    if (chance(80)) job.tenant.clear();
    std::vector<std::string> left;
    for (const auto& [id, results] : client_.answers) {
      if (!results.empty() && results.front().step && results.front().step->kept)
        left.push_back(results.front().step->node);
    }
    if (left.empty() || chance(30)) return;
    const std::string& id = left[one_of(left.size())];
    auto node = nodes_->find(id, job.tenant, now());
    if (!node) return;
    job.session = id;
    job.node = *node;
  }

  void submit() {
    Job job = any_job();
    const std::shared_ptr<const Node> node = job.node;
    admission_.put(client_.task(std::move(job), now()));
    Scheduler* home = node ? seats_[node->shard].scheduler.get() : nullptr;
    home && home->idle() ? home->wake_if_idle() : wake_idle();
  }
  void submit_pair() {
    Job first = any_job(), second = any_job();
    first.determinism_runs = second.determinism_runs = 1;
    for (Job* each : {&first, &second}) each->session.clear(), each->node = nullptr;
    second.priority = first.priority;
    second.deadline = first.deadline = {};
    first.pairing = second.pairing = InteractivePair::create().value();
    second.side = InteractivePair::Side::kInteractor;
    admission_.put_both(client_.task(std::move(first), now()),
                        client_.task(std::move(second), now()));
    wake_idle();
    wake_idle();
  }
  void wake_idle() {
    for (Seat& seat : seats_) {
      if (seat.scheduler->idle()) return seat.scheduler->wake_if_idle();
    }
  }

  std::vector<Action> what_arrives() {
    std::vector<Action> possible = {[this] { submit(); }, [this] { submit(); }};
    if (workers_ > 1 && chance(20)) possible.push_back([this] { submit_pair(); });
    if (!watches_.empty() && chance(20)) {
      possible.push_back([this] {
        watches_[one_of(watches_.size())]->withdrawn = true;
        for (Seat& seat : seats_) seat.scheduler->cancel_withdrawn();
      });
    }
    if (chance(2)) {
      possible.push_back([this] {
        for (Seat& seat : seats_) seat.scheduler->cancel();
      });
    }
    return possible;
  }

  // The next steps of a machine without trouble.
  void add_progress(std::vector<Action>& possible) {
    for (Seat& seat : seats_) {
      fake::FakeMachine& machine = seat.machine;
      Scheduler& scheduler = *seat.scheduler;
      if (machine.woken && !machine.is_finished) {
        possible.push_back([&machine, &scheduler] {
          machine.woken = false;
          scheduler.turn();
        });
      }
      if (machine.ask_at) {
        possible.push_back([this, &machine, &scheduler] {
          pass_to(*std::exchange(machine.ask_at, std::nullopt));
          scheduler.turn();
        });
      }
      if (machine.vacate_at) {
        possible.push_back([this, &machine, &scheduler] {
          pass_to(*std::exchange(machine.vacate_at, std::nullopt));
          scheduler.vacate_idle();
        });
      }
      if (!machine.asides.empty()) possible.push_back([&machine] { machine.come_back(); });
      for (fake::FakeTemplate* each : machine.templates) {
        if (each->is_ending()) {
          possible.push_back([each] { each->die(); });
        } else if (each->state() == TemplateHandle::State::kStarting) {
          possible.push_back([each] { each->become_ready(); });
        }
      }
      for (fake::FakeCell* cell : machine.cells) add_progress_of(*cell, possible);
    }
  }

  void add_progress_of(fake::FakeCell& cell, std::vector<Action>& possible) {
    if (cell.is_ended()) {
      if (!cell.gone()) possible.push_back([&cell] { cell.vanish(); });
    } else if (cell.has_lost_parent()) {
      if (cell.state() != CellHandle::State::kDead) possible.push_back([&cell] { cell.die(); });
    } else if (cell.state() == CellHandle::State::kStarting) {
      possible.push_back([&cell] { cell.become_ready(); });
    } else if (cell.state() == CellHandle::State::kRunning) {
      const bool is_long = chance(10);
      possible.push_back([this, &cell, is_long] {
        finish(cell, is_long ? std::string(Machine::kShort + 1, 'x') : "short");
      });
    }
  }

  // A step leaves a state; of other jobs nobody asks for it.
  void finish(fake::FakeCell& cell, std::string output) {
    RunResult result;
    result.ran = true;
    result.testimony.kind = Testimony::Kind::kFinished;
    result.out.total = output.size();
    result.out.bytes = std::move(output);
    if (chance(80)) result.state = state_left_by(cell);
    if (cell.builds) result.files.files.push_back({"main", "#!/bin/true", true});
    const bool stays = result.state && cell.may_stay && chance(70);
    stays ? cell.stay(std::move(result)) : cell.finish(std::move(result));
  }

  // A page of its own, which says whose it is, and perhaps one of the state that it came from.
  // Null: there is no room.
  std::shared_ptr<const NodeState> state_left_by(const fake::FakeCell& cell) {
    const uint64_t number = next_++;
    auto own = std::make_shared<NodeContents>();
    own->bytes = kPage;
    own->hold = nodes_->reserve(cell.tenant, kPage);
    if (!own->hold) return nullptr;
    own->file = new_node_file(kPage).value();
    REQUIRE(::pwrite(own->file.get(), &number, sizeof number, 0) == sizeof number);
    auto state = std::make_shared<NodeState>();
    state->bytes = number;
    state->files.push_back(std::move(own));
    if (cell.from && chance(30)) state->files.push_back(cell.from->files.front());
    return state;
  }
  static void check_state(const NodeState& state) {
    uint64_t number = 0;
    if (::pread(state.files.front()->file.get(), &number, sizeof number, 0) != sizeof number ||
        number != state.bytes)
      FAIL("a step has the state of another");
  }

  void add_trouble(std::vector<Action>& possible) {
    possible.push_back([this] { pass_to(now() + 30ms); });
    for (Seat& seat : seats_) {
      fake::FakeMachine& machine = seat.machine;
      if (chance(10)) add_shortage(machine, possible);
      if (machine.age_at && chance(5)) {
        possible.push_back([this, &seat] {
          pass_to(*std::exchange(seat.machine.age_at, std::nullopt));
          seat.scheduler->drop_aged();
        });
      }
      if (chance(5)) possible.push_back([&seat] { seat.scheduler->ask_back(); });
      for (fake::FakeTemplate* each : machine.templates) {
        if (each->state() == TemplateHandle::State::kFailed || !chance(10)) continue;
        if (each->state() == TemplateHandle::State::kRefused) continue;
        possible.push_back([each] { each->die(); });
        if (each->state() == TemplateHandle::State::kStarting)
          possible.push_back([this, each] { chance(50) ? each->refuse() : each->fail(ENOMEM); });
      }
      for (fake::FakeCell* cell : machine.cells) {
        if (!cell->is_ended() && chance(20)) add_trouble_of(machine, *cell, possible);
      }
    }
  }

  static void add_shortage(fake::FakeMachine& machine, std::vector<Action>& possible) {
    possible.push_back(
        [&machine] { machine.template_error = machine.template_error ? 0 : EAGAIN; });
    possible.push_back([&machine] { machine.cell_error = machine.cell_error ? 0 : EMFILE; });
    possible.push_back([&machine] { ++machine.ooms; });
    possible.push_back([&machine] { machine.input_error = EMFILE; });
  }

  static void add_trouble_of(fake::FakeMachine& machine, fake::FakeCell& cell,
                             std::vector<Action>& possible) {
    if (cell.state() == CellHandle::State::kDead) return;
    possible.push_back([&cell] { cell.die(); });
    possible.push_back([&cell] { cell.limits_error = EIO; });
    possible.push_back([&cell] { cell.wear_out(); });
    if (cell.state() != CellHandle::State::kRunning) return;
    possible.push_back([&cell] {
      cell.finish_with({shim::Step::kSendOrder, EPIPE, "gone"}, false);
    });
    possible.push_back([&cell] {
      cell.finish_with({shim::Step::kFork, EAGAIN, "no process"}, false);
    });
    possible.push_back([&cell, &machine] {
      ++machine.ooms;
      cell.die();
    });
  }

  sys::Nanoseconds now() const { return seats_.front().machine.time; }
  void pass_to(sys::Nanoseconds time) {
    for (Seat& seat : seats_) seat.machine.time = std::max(seat.machine.time, time);
  }

  std::mt19937 random_;
  const unsigned workers_;
  fake::FakeCatalogue catalogue_;
  fake::FakeClient client_;
  AdmissionQueue admission_;
  Capacity capacity_;
  // Some have to wait for others: a tenant has memory for two or three.
  const std::shared_ptr<NodeStore> nodes_ =
      std::make_shared<NodeStore>(NodesPlan{.memory = sys::Bytes{6 * kPage},
                                            .most = 20,
                                            .idle = 2s,
                                            .disk = one_of(4) == 0 ? nullptr : disk_in_tmp(),
                                            .on_disk = sys::Bytes{2000}});
  const std::shared_ptr<NodeTurns> turns_ = std::make_shared<NodeTurns>([this](TaskPtr task) {
    admission_.put_back(std::move(task));
    wake_idle();
  });
  std::vector<Seat> seats_;
  std::vector<std::shared_ptr<JobWatch>> watches_;
  unsigned next_ = 0;
};

// How many steps went on from a node.
size_t run_history(unsigned seed) {
  INFO("ZYGO_HISTORY=" << seed << " runs this history alone");
  History history(seed);
  history.live(100);
  if (!history.settle()) {
    std::string forgotten;
    for (const auto& [id, results] : history.client().answers)
      forgotten += results.empty() ? id + " " : "";
    FAIL("never answered: " << forgotten << history.state());
  }
  for (const auto& [id, results] : history.client().answers) {
    if (results.size() != 1 || results.front().id != id)
      FAIL("job " << id << " was answered: " << history.client().label(id));
  }
  REQUIRE(history.load() == 0);
  REQUIRE(history.stop());
  REQUIRE(history.templates_dropped_alive() == 0);
  REQUIRE(history.templates_ended_under_jobs() == 0);
  const auto steps = std::count_if(history.client().answers.begin(), history.client().answers.end(),
                                   [](const auto& each) {
                                     const auto& step = each.second.front().step;
                                     return step && step->kept && !step->parent.empty();
                                   });
  return static_cast<size_t>(steps);
}

TEST_CASE("in 1,000 random histories each job has one verdict", "[scheduler][histories]") {
  if (const char* only = std::getenv("ZYGO_HISTORY")) {
    run_history(static_cast<unsigned>(std::strtoul(only, nullptr, 10)));
    return;
  }
  const char* more = std::getenv("ZYGO_HISTORIES");
  const unsigned long count = more ? std::strtoul(more, nullptr, 10) : 1'000;
  size_t steps = 0;
  for (unsigned seed = 1; seed <= count; ++seed) steps += run_history(seed);
  if (!more) CHECK(steps > count / 4);  // sessions are among them
}

}  // namespace
}  // namespace runtime
