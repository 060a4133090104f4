#include "tools/cli/certify/trial.h"

#include <unistd.h>

#include <catch2/catch.hpp>

#include "sandbox/sys/file.h"
#include "tests/unit/tools/cli/fake_engine.h"

namespace cli {
namespace {

LabelledJob program(const std::string& source, const std::string& label) {
  LabelledJob job;
  job.job.id = source;
  job.job.source = source;
  job.labels = {label};
  return job;
}

Progress silent() { return Progress(Progress::Kind::kNone, STDERR_FILENO, std::nullopt); }

}  // namespace

TEST_CASE("a trial runs each job of its order and scores the results", "[cli][certify]") {
  FakeEngine engine;
  const std::vector<LabelledJob> corpus{program("1", "OK"), program("raise KeyError", "KeyError"),
                                        program("raise IndexError", "OK")};
  Scorer scorer({.load = 1});

  REQUIRE(Trial(engine, corpus, silent(), -1).run({0, 1, 2, 2, 0, 1, 0}, scorer));

  CHECK(engine.submitted().size() == 7);
  CHECK((scorer.row().jobs == 7 && scorer.row().flips == 2));
  CHECK(scorer.flips()[0].got == "IndexError");
}

TEST_CASE("without faults a SandboxError is a flip, and is not hidden by another run",
          "[cli][certify]") {
  FakeEngine engine;
  const std::vector<LabelledJob> corpus{program("fail", "OK")};
  Scorer scorer({});

  REQUIRE(Trial(engine, corpus, silent(), -1).run({0}, scorer));

  CHECK(engine.submitted().size() == 1);
  CHECK((scorer.row().flips == 1 && scorer.row().sandbox_errors == 1));
}

TEST_CASE("with faults a lost job runs again, at last once the kills have ended",
          "[cli][certify]") {
  FakeEngine engine;
  const std::vector<LabelledJob> corpus{program("fail", "OK"), program("1", "OK")};
  Scorer scorer({.faults = true});
  size_t runs_before_the_end = 0;

  REQUIRE(Trial(engine, corpus, silent(), -1).run({0, 1}, scorer, [&] {
    runs_before_the_end = engine.submitted().size();
  }));

  CHECK((runs_before_the_end == 4 && engine.submitted().size() == 5));
  CHECK((scorer.row().jobs == 2 && scorer.row().flips == 1));
  CHECK(scorer.row().sandbox_errors == 4);
}

TEST_CASE("a trial that is stopped cancels its jobs and says so", "[cli][certify]") {
  FakeEngine engine;
  sys::Pipe stop = sys::make_pipe().value();
  const std::vector<LabelledJob> corpus{program("hang", "OK")};
  Scorer scorer({});
  std::thread interrupts([&] {
    engine.await(2);
    stop.writer.reset();
  });

  CHECK_FALSE(Trial(engine, corpus, silent(), stop.reader.get()).run({0, 0}, scorer));
  interrupts.join();
}

}  // namespace cli
