#include "tools/cli/certify/daemons.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <future>
#include <memory>
#include <string>

#include "tests/unit/tools/cli/fake_engine.h"

namespace cli {
namespace {

std::unique_ptr<Daemons> some_daemons() {
  auto open = Daemons::open([]() -> sys::Result<std::unique_ptr<runtime::Engine>> {
    return std::unique_ptr<runtime::Engine>(std::make_unique<FakeEngine>(3));
  });
  REQUIRE(open);
  return std::move(*open);
}

std::future<runtime::JobResult> submit(Daemons& daemons, const std::string& source) {
  auto promise = std::make_shared<std::promise<runtime::JobResult>>();
  runtime::Job job;
  job.id = "of " + source;
  job.source = source;
  auto future = promise->get_future();
  daemons.submit(std::move(job),
                 [promise](runtime::JobResult result) { promise->set_value(std::move(result)); });
  return future;
}

}  // namespace

TEST_CASE("a daemon runs jobs in a process of its own", "[cli][certify]") {
  const auto daemons = some_daemons();
  CHECK(daemons->workers() == 3);
  CHECK((daemons->pid() > 0 && daemons->pid() != ::getpid()));

  const runtime::JobResult result = submit(*daemons, "raise KeyError").get();

  CHECK((result.id == "of raise KeyError" && result.verdict.label() == "KeyError"));
}

TEST_CASE("jobs of a daemon that is killed are lost, and may be sent to the next one",
          "[cli][certify]") {
  const auto daemons = some_daemons();
  const pid_t first = daemons->pid();
  auto hangs = submit(*daemons, "hang");
  CHECK(daemons->kill());

  const runtime::JobResult lost = hangs.get();

  CHECK((lost.id == "of hang" && lost.verdict.label() == "SandboxError"));
  CHECK(daemons->pid() != first);
  CHECK(submit(*daemons, "print").get().verdict.label() == "OK");
}

TEST_CASE("all jobs of a daemon can be cancelled", "[cli][certify]") {
  const auto daemons = some_daemons();
  auto hangs = submit(*daemons, "hang");
  daemons->cancel_all();
  CHECK(hangs.get().verdict.label() == "Cancelled");
}

TEST_CASE("an engine that cannot be started says why, from a daemon, too", "[cli][certify]") {
  const auto open = Daemons::open([]() -> sys::Result<std::unique_ptr<runtime::Engine>> {
    return sys::Error::because("no room");
  });
  REQUIRE_FALSE(open);
  CHECK(open.error().text() == "no room");
}

}  // namespace cli
