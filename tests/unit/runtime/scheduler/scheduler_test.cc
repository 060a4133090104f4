#include "runtime/scheduler/scheduler.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "tests/unit/runtime/scheduler/fake_machine.h"

namespace runtime {
namespace {

using namespace std::chrono_literals;

// One scheduler on a fake machine; what a test does to it, the loop would do.
struct Bench {
  explicit Bench(unsigned workers = 2)
      : admission(workers),
        capacity(workers, {}),
        scheduler(machine, catalogue, admission, capacity, {workers, 0}) {}
  ~Bench() { scheduler.end_all(); }

  static Job job(const std::string& id, const std::string& name = "python") {
    Job job;
    job.id = id;
    job.template_name = name;
    job.source = "a source";
    return job;
  }
  void submit(Job job) {
    admission.put(client.task(std::move(job), machine.time));
    scheduler.turn();
  }
  void turn() {
    while (std::exchange(machine.woken, false)) scheduler.turn();
  }
  void pass(sys::Nanoseconds time) {
    machine.time += time;
    if (machine.ask_at && *machine.ask_at <= machine.time) {
      machine.ask_at.reset();
      scheduler.turn();
    }
    if (machine.age_at && *machine.age_at <= machine.time) {
      machine.age_at.reset();
      scheduler.drop_aged();
    }
    turn();
  }
  void ready_template() {
    machine.templates.back()->become_ready();
    turn();
  }
  fake::FakeCell& ready_cell() {
    fake::FakeCell& cell = *machine.cells.back();
    cell.become_ready();
    turn();
    return cell;
  }
  // A job that has come as far as to run.
  fake::FakeCell& run(const std::string& id, const std::string& name = "python") {
    submit(job(id, name));
    if (machine.templates.back()->state() == TemplateHandle::State::kStarting) ready_template();
    if (machine.cells.back()->state() == CellHandle::State::kStarting) ready_cell();
    return *machine.cells.back();
  }
  std::string label(const std::string& id) const { return client.label(id); }

  fake::FakeMachine machine;
  fake::FakeCatalogue catalogue;
  fake::FakeClient client;
  AdmissionQueue admission;
  Capacity capacity;
  Scheduler scheduler;
};

TEST_CASE("a job starts its template, gets a cell and is answered once", "[scheduler]") {
  Bench bench;
  fake::FakeCell& cell = bench.run("a");
  CHECK(cell.job == "a");
  CHECK(bench.label("a").empty());
  CHECK(bench.scheduler.load() == 1);
  cell.finish_well();
  CHECK(bench.label("a") == "OK");
  CHECK(bench.scheduler.load() == 0);
  CHECK(bench.scheduler.counts().forks == 1);
}

TEST_CASE("a clean cell serves the next job, a worn one makes room for another", "[scheduler]") {
  Bench bench;
  bench.run("a").finish_well();
  CHECK(&bench.run("b") == bench.machine.cells.front());
  CHECK(bench.machine.cells_made == 1);
  bench.machine.cells.front()->wear_out();
  bench.machine.cells.front()->finish_well();
  CHECK(bench.machine.cells.front()->is_ended());
  bench.run("c").finish_well();
  CHECK(bench.machine.cells_made == 2);
  CHECK(bench.label("c") == "OK");
}

TEST_CASE("a cell of another shape is no cell for a job", "[scheduler]") {
  Bench bench;
  bench.run("a").finish_well();
  Job other = Bench::job("b");
  other.limits.disk = sys::mebibytes(1);
  bench.submit(std::move(other));
  CHECK(bench.machine.cells_made == 2);
}

TEST_CASE("no more jobs run than the plan has room for", "[scheduler]") {
  Bench bench(1);
  fake::FakeCell& cell = bench.run("a");
  bench.submit(Bench::job("b"));
  CHECK(bench.scheduler.load() == 1);
  CHECK_FALSE(bench.admission.empty());
  cell.finish_well();  // and the next begins in its place
  CHECK(bench.admission.empty());
  CHECK(cell.job == "b");
}

TEST_CASE("who names an unknown template, or waited past its deadline, runs nothing",
          "[scheduler]") {
  Bench bench(1);
  bench.submit(Bench::job("unknown", "fortran"));
  CHECK(bench.label("unknown") == "BadJob");
  fake::FakeCell& cell = bench.run("first");
  Job late = Bench::job("late");
  late.deadline = 10ms;
  bench.submit(std::move(late));
  bench.machine.time += 11ms;
  cell.finish_well();
  CHECK(bench.label("late") == "Cancelled");
  CHECK(bench.scheduler.load() == 0);
}

TEST_CASE("a template that is killed while jobs wait is started again for them", "[scheduler]") {
  Bench bench;
  bench.submit(Bench::job("a"));
  bench.submit(Bench::job("b"));
  bench.machine.templates.back()->die();
  bench.turn();
  REQUIRE(bench.machine.templates.size() == 1);
  CHECK(bench.machine.templates.back()->state() == TemplateHandle::State::kStarting);
  bench.ready_template();
  for (fake::FakeCell* cell : std::list(bench.machine.cells)) cell->become_ready();
  for (fake::FakeCell* cell : std::list(bench.machine.cells)) cell->finish_well();
  CHECK(bench.label("a") == "OK");
  CHECK(bench.label("b") == "OK");
}

TEST_CASE("a job that loses its template again and again ends as our error", "[scheduler]") {
  Bench bench;
  bench.submit(Bench::job("a"));
  for (int kills = 0; kills < 3; ++kills) {
    bench.machine.templates.back()->die();
    bench.turn();
  }
  CHECK(bench.label("a") == "SandboxError");
  CHECK(bench.scheduler.load() == 0);
}

TEST_CASE("a template that refuses itself is the caller's mistake", "[scheduler]") {
  Bench bench;
  bench.submit(Bench::job("a"));
  bench.machine.templates.back()->refuse();
  bench.turn();
  CHECK(bench.label("a") == "BadJob");
}

TEST_CASE("a cell that dies before its job began costs the job nothing", "[scheduler]") {
  Bench bench;
  bench.submit(Bench::job("a"));
  bench.ready_template();
  bench.machine.cells.back()->die();
  bench.turn();
  fake::FakeCell& next = bench.ready_cell();
  CHECK(next.job == "a");
  next.finish_with({shim::Step::kSendOrder, EPIPE, "gone"},
                   false);  // it was dead, and nobody had heard
  bench.turn();
  bench.ready_cell().finish_well();
  CHECK(bench.label("a") == "OK");
}

TEST_CASE("a job for which there is no room waits, and runs when there is", "[scheduler]") {
  Bench bench;
  bench.machine.template_error = EAGAIN;
  bench.submit(Bench::job("a"));
  CHECK(bench.label("a").empty());
  CHECK(bench.scheduler.load() == 0);
  REQUIRE(bench.machine.ask_at);
  bench.machine.template_error = 0;
  bench.pass(1min);
  bench.ready_template();
  bench.machine.cell_error = 0;
  bench.ready_cell().finish_well();
  CHECK(bench.label("a") == "OK");
}

TEST_CASE("a job for which there is no room for a minute says what was refused", "[scheduler]") {
  Bench bench;
  bench.machine.template_error = ENOMEM;
  bench.submit(Bench::job("a"));
  for (int tries = 0; tries < 40 && bench.label("a").empty(); ++tries) bench.pass(5s);
  CHECK(bench.label("a") == "SandboxError");
  CHECK(bench.machine.time - sys::Nanoseconds(1h) < 2min);
}

TEST_CASE("a job that the kernel ended for want of memory is run again", "[scheduler]") {
  Bench bench;
  fake::FakeCell& cell = bench.run("a");
  ++bench.machine.ooms;
  cell.die();
  bench.turn();
  CHECK(bench.label("a").empty());
  CHECK(bench.capacity.width() == 1);
  bench.pass(10s);
  bench.ready_cell().finish_well();
  CHECK(bench.label("a") == "OK");
}

TEST_CASE("a job whose input cannot be given again is not run again", "[scheduler]") {
  Bench bench;
  Job job = Bench::job("a");
  job.stdin_fd = 0;
  bench.submit(std::move(job));
  bench.ready_template();
  bench.ready_cell().finish_with({shim::Step::kFork, EAGAIN, "no process"}, false);
  CHECK(bench.label("a") == "SandboxError");
}

TEST_CASE("a cell that cannot hold a job to its limits is replaced once", "[scheduler]") {
  Bench bench;
  fake::FakeCell& used = bench.run("a");
  used.finish_well();
  used.limits_error = EIO;
  bench.submit(Bench::job("b"));
  REQUIRE(bench.machine.cells_made == 2);  // a fresh one may do better
  fake::FakeCell& fresh = *bench.machine.cells.back();
  fresh.limits_error = EIO;
  fresh.become_ready();
  CHECK(bench.label("b") == "SandboxError");
}

TEST_CASE("a template is renewed after so many cells, beside the one that serves", "[scheduler]") {
  Bench bench;
  for (int i = 0; i < 199; ++i) {
    fake::FakeCell& cell = bench.run("job " + std::to_string(i));
    cell.wear_out();
    cell.finish_well();
    cell.vanish();
    bench.turn();
  }
  REQUIRE(bench.machine.templates.size() == 1);
  fake::FakeTemplate* old = bench.machine.templates.front();
  bench.submit(Bench::job("of the old one"));
  REQUIRE(bench.machine.templates.size() == 2);
  fake::FakeCell& last = bench.ready_cell();
  CHECK(last.parent == old);
  bench.ready_template();
  CHECK(bench.machine.templates.size() == 2);  // a cell of it runs
  last.finish_well();
  CHECK(last.is_ended());
  last.vanish();
  bench.turn();
  CHECK(bench.machine.templates.size() == 1);
  CHECK(bench.machine.templates.front() != old);
  bench.run("of the new one").finish_well();
  CHECK(bench.label("of the new one") == "OK");
}

TEST_CASE("an early cell serves until its template has its image", "[scheduler]") {
  Bench bench;
  bench.catalogue.early_cells = true;
  bench.submit(Bench::job("a"));
  bench.submit(Bench::job("b"));
  REQUIRE(bench.machine.cells.size() == 1);
  fake::FakeCell& early = bench.ready_cell();
  CHECK(early.job == "a");
  early.finish_well();
  CHECK(early.job == "b");
  bench.ready_template();
  early.finish_well();
  CHECK(early.is_ended());
  CHECK(bench.label("b") == "OK");
}

TEST_CASE("cancelling ends a job wherever it is, each once", "[scheduler]") {
  Bench bench(1);
  SECTION("in the queue and in a cell") {
    fake::FakeCell& cell = bench.run("a");
    bench.submit(Bench::job("b"));
    bench.scheduler.cancel();
    bench.turn();
    CHECK(bench.label("b") == "Cancelled");
    cell.finish_well();
  }
  SECTION("waiting for its template") {
    bench.submit(Bench::job("a"));
    bench.scheduler.cancel();
    bench.turn();
    bench.ready_template();
  }
  SECTION("waiting for its cell") {
    bench.submit(Bench::job("a"));
    bench.ready_template();
    bench.scheduler.cancel();
    bench.turn();
    bench.ready_cell();
  }
  CHECK(bench.label("a") == "Cancelled");
  CHECK(bench.scheduler.load() == 0);
}

Job withdrawable(const std::string& id, const std::string& name = "python") {
  Job job = Bench::job(id, name);
  job.watch = std::make_shared<JobWatch>();
  return job;
}

TEST_CASE("who withdraws a job withdraws only that", "[scheduler]") {
  Bench bench;
  Job job = withdrawable("a");
  const std::shared_ptr<JobWatch> watch = job.watch;
  bench.submit(std::move(job));
  bench.submit(Bench::job("b"));
  watch->withdrawn = true;
  bench.scheduler.cancel_withdrawn();
  bench.turn();
  CHECK(bench.label("a") == "Cancelled");
  bench.ready_template();
  bench.ready_cell().finish_well();
  CHECK(bench.label("b") == "OK");
}

TEST_CASE("a program that many want is compiled once", "[scheduler]") {
  Bench bench;
  bench.submit(Bench::job("a", "c"));
  bench.submit(Bench::job("b", "c"));
  bench.ready_template();
  fake::FakeCell& compiler = bench.ready_cell();
  CHECK(compiler.builds);
  CHECK(bench.machine.cells_made == 1);
  CHECK(bench.scheduler.load() == 1);  // who waits has no worker
  compiler.finish_well();
  bench.machine.come_back();
  bench.turn();
  CHECK(bench.machine.cells_made == 3);
  for (fake::FakeCell* cell : std::list(bench.machine.cells)) {
    if (cell->state() == CellHandle::State::kStarting) cell->become_ready();
  }
  for (fake::FakeCell* cell : std::list(bench.machine.cells)) {
    if (cell->state() == CellHandle::State::kRunning) cell->finish_well();
  }
  CHECK(bench.label("a") == "OK");
  CHECK(bench.label("b") == "OK");
  CHECK_FALSE(bench.client.answers["a"].front().compile->cached);
  CHECK(bench.client.answers["b"].front().compile->cached);
}

TEST_CASE("what a compiler says no to, it says to all who wait", "[scheduler]") {
  Bench bench;
  bench.submit(Bench::job("a", "c"));
  bench.submit(Bench::job("b", "c"));
  bench.ready_template();
  RunResult said_no;
  said_no.ran = true;
  said_no.testimony.kind = Testimony::Kind::kExited;
  said_no.evidence.exit.code = 1;
  bench.ready_cell().finish(std::move(said_no));
  CHECK(bench.label("a") == "CompilationError");
  CHECK(bench.label("b") == "CompilationError");
}

TEST_CASE("a builder that withdraws leaves the build to who waits for it", "[scheduler]") {
  Bench bench;
  Job builder = withdrawable("a", "c");
  const std::shared_ptr<JobWatch> watch = builder.watch;
  bench.submit(std::move(builder));
  bench.submit(Bench::job("b", "c"));
  CHECK(bench.scheduler.load() == 1);
  watch->withdrawn = true;
  bench.scheduler.cancel_withdrawn();  // before there is a cell to compile in
  bench.turn();
  CHECK(bench.label("a") == "Cancelled");
  bench.ready_template();
  fake::FakeCell& compiler = bench.ready_cell();
  CHECK(compiler.job == "b");
  compiler.finish_well();
  bench.machine.come_back();
  bench.turn();
  bench.ready_cell().finish_well();
  CHECK(bench.label("b") == "OK");
}

TEST_CASE("the sides of a conversation begin together", "[scheduler]") {
  Bench bench;
  const auto pair = InteractivePair::create().value();
  Job program = Bench::job("program"), interactor = Bench::job("interactor");
  program.pairing = interactor.pairing = pair;
  interactor.side = InteractivePair::Side::kInteractor;
  bench.admission.put_both(bench.client.task(program, bench.machine.time),
                           bench.client.task(interactor, bench.machine.time));
  bench.scheduler.turn();
  bench.ready_template();
  fake::FakeCell *first = bench.machine.cells.front(), *second = bench.machine.cells.back();
  first->become_ready();
  CHECK(first->state() == CellHandle::State::kIdle);
  SECTION("when both have a cell") { second->become_ready(); }
  SECTION("also when one has lost its cell meanwhile") {
    first->die();
    bench.turn();
    second->become_ready();
    CHECK(second->state() == CellHandle::State::kIdle);
    for (fake::FakeCell* cell : bench.machine.cells) {
      if (!cell->is_ended() && cell != second) first = cell;
    }
    first->become_ready();
  }
  bench.turn();
  CHECK(first->state() == CellHandle::State::kRunning);
  CHECK(second->state() == CellHandle::State::kRunning);
  first->finish_well();
  second->finish_well();
  CHECK(bench.label("program") == "OK");
  CHECK(bench.label("interactor") == "OK");
}

TEST_CASE("a side whose other side cannot start is told so", "[scheduler]") {
  Bench bench;
  const auto pair = InteractivePair::create().value();
  Job program = Bench::job("program"), interactor = Bench::job("interactor", "fortran");
  program.pairing = interactor.pairing = pair;
  interactor.side = InteractivePair::Side::kInteractor;
  bench.admission.put_both(bench.client.task(program, bench.machine.time),
                           bench.client.task(interactor, bench.machine.time));
  bench.scheduler.turn();
  CHECK(bench.label("interactor") == "BadJob");
  bench.ready_template();
  bench.ready_cell();
  CHECK(bench.label("program") == "SandboxError");
  CHECK(bench.scheduler.load() == 0);
}

TEST_CASE("two runs that differ are told apart, each under its own template", "[scheduler]") {
  Bench bench(1);
  Job job = Bench::job("a");
  job.determinism_runs = 2;
  bench.submit(std::move(job));
  bench.ready_template();
  bench.ready_cell().finish_well("one");
  REQUIRE(bench.machine.templates.size() == 2);
  bench.ready_template();
  bench.ready_cell().finish_well("two");
  CHECK(bench.label("a") == "NonDeterministicCode");
}

// The shard had stood still here: a job came back, and nobody looked at the queue.
TEST_CASE("who comes back from beside the loop makes room for the next", "[scheduler]") {
  Bench bench(1);
  Job job = Bench::job("long");
  job.determinism_runs = 2;
  bench.submit(std::move(job));
  bench.ready_template();
  const std::string text(Machine::kShort + 1, 'x');
  bench.ready_cell().finish_well(text);
  bench.ready_template();
  bench.ready_cell().finish_well(text);
  bench.submit(Bench::job("next"));
  CHECK(bench.scheduler.load() == 1);
  bench.machine.come_back();  // compared
  bench.turn();
  CHECK(bench.machine.cells.front()->job == "next");
  bench.machine.come_back();  // delivered
  CHECK(bench.label("long") == "OK");
}

TEST_CASE("a tenant's template serves no other, and goes when nobody uses it", "[scheduler]") {
  Bench bench;
  Job job = Bench::job("a");
  job.tenant = "one";
  bench.submit(std::move(job));
  bench.ready_template();
  bench.ready_cell().finish_well();
  bench.submit(Bench::job("b"));
  CHECK(bench.machine.templates.size() == 2);
  CHECK(bench.scheduler.counts().tenant_templates == 1);
  bench.pass(6min);
  CHECK(bench.scheduler.counts().tenant_templates == 0);
  CHECK(bench.scheduler.counts().tenant_templates_dropped == 1);
}

TEST_CASE("a scheduler that is stopped ends what it has, and then says so", "[scheduler]") {
  Bench bench;
  fake::FakeCell& cell = bench.run("a");
  bench.scheduler.stop();
  bench.turn();
  CHECK_FALSE(bench.machine.is_finished);
  cell.finish_well();
  bench.turn();
  CHECK(bench.label("a") == "Cancelled");
  cell.vanish();
  bench.turn();
  CHECK(bench.machine.is_finished);
}

struct OtherScheduler : Peer {
  unsigned load() const override { return busy; }
  bool has_room() const override { return busy < 2; }
  bool has_templates() const override { return true; }
  void wake() override { ++woken; }
  void wake_if_idle() override { ++woken; }
  void ask_back() override { ++asked; }
  unsigned busy = 0, woken = 0, asked = 0;
};

TEST_CASE("a task is left to a scheduler that has less to do", "[scheduler]") {
  Bench bench(4);
  OtherScheduler other;
  bench.scheduler.set_peers({&other});
  bench.run("a");
  bench.submit(Bench::job("b"));
  CHECK(other.woken == 1);
  CHECK_FALSE(bench.admission.empty());
  other.busy = 2;
  bench.scheduler.turn();
  CHECK(bench.admission.empty());
}

TEST_CASE("who finds no room asks the others for what they do not use", "[scheduler]") {
  Bench bench(4);
  OtherScheduler other;
  other.busy = 2;
  bench.scheduler.set_peers({&other});
  bench.machine.template_error = EMFILE;
  bench.submit(Bench::job("a"));
  CHECK(other.asked > 0);
}

TEST_CASE("what is idle is given back to others who ask", "[scheduler]") {
  Bench bench;
  fake::FakeCell& cell = bench.run("a");
  cell.finish_well();
  bench.scheduler.ask_back();
  bench.turn();
  CHECK(cell.is_ended());
}

}  // namespace
}  // namespace runtime
