#include "service/admission/dispatcher.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "tests/unit/tools/cli/fake_engine.h"

namespace service {
namespace {

// A dispatcher before a fake engine of one worker, so that two jobs are with the engine at once.
struct Scene {
  cli::FakeEngine engine{1};
  runtime::Loop loop;
  Deadlines deadlines{loop};
  const Allowance allowance{size_t{64} << 20};
  const std::string client{"a"};
  std::vector<std::string> labels;
  size_t wanted = 0;
  std::unique_ptr<Dispatcher> dispatcher;

  using TenantOf = decltype(Dispatcher::Options::tenant_of);
  explicit Scene(size_t queue, TenantOf tenant_of = nullptr) {
    Dispatcher::Options options;
    options.queue = queue;
    options.tenant_of = std::move(tenant_of);
    options.ended = [](const Finished&) {};
    options.room = [] {};
    dispatcher =
        std::make_unique<Dispatcher>(engine, loop, deadlines, allowance, std::move(options));
  }
  std::variant<Dispatcher::Ticket, Dispatcher::Busy> submit(
      const std::string& source, std::optional<sys::Milliseconds> patience = std::nullopt) {
    return submit_for("", source, patience);
  }
  std::variant<Dispatcher::Ticket, Dispatcher::Busy> submit_for(
      const std::string& tenant, const std::string& source,
      std::optional<sys::Milliseconds> patience = std::nullopt) {
    Dispatcher::Order order;
    order.job.id = order.job.source = source;
    order.job.tenant = tenant;
    order.client = client;
    order.patience = patience;
    order.done = [this](Finished finished) {
      labels.push_back(finished.label + (finished.expired ? "!" : ""));
      if (labels.size() >= wanted) loop.stop();
    };
    return dispatcher->submit(std::move(order));
  }
  void run_until(size_t ended) {
    wanted = ended;
    while (labels.size() < wanted) loop.run();
  }
};

bool is_busy(const std::variant<Dispatcher::Ticket, Dispatcher::Busy>& answer) {
  return std::holds_alternative<Dispatcher::Busy>(answer);
}

}  // namespace

TEST_CASE("every job that the dispatcher takes ends once", "[service][dispatcher]") {
  Scene scene(100);
  for (int i = 0; i < 50; ++i) CHECK_FALSE(is_busy(scene.submit("job")));

  scene.run_until(50);

  CHECK(scene.labels == std::vector<std::string>(50, "OK"));
  CHECK(scene.dispatcher->queued() == 0);
  CHECK(scene.dispatcher->running() == 0);
}

TEST_CASE("a full queue refuses, and says so at once", "[service][dispatcher]") {
  Scene scene(2);
  scene.engine.pause();
  for (int i = 0; i < 4; ++i) CHECK_FALSE(is_busy(scene.submit("job")));

  const auto fifth = scene.submit("job");

  REQUIRE(is_busy(fifth));
  CHECK(std::get<Dispatcher::Busy>(fifth).retry_after >= 1);
  CHECK(std::get<Dispatcher::Busy>(fifth).why.find("2 jobs wait") != std::string::npos);
  scene.engine.unpause();
  scene.run_until(4);
}

TEST_CASE("a job that cannot start in time is given back, whether it has reached the engine or not",
          "[service][dispatcher]") {
  Scene scene(10);
  scene.engine.pause();
  for (int i = 0; i < 3; ++i) scene.submit("job", sys::Milliseconds(5));

  scene.run_until(3);

  CHECK(scene.labels == std::vector<std::string>(3, "Cancelled!"));
}

TEST_CASE("withdrawn jobs are Cancelled, waiting or running", "[service][dispatcher]") {
  Scene scene(10);
  std::vector<Dispatcher::Ticket> tickets;
  for (int i = 0; i < 3; ++i) tickets.push_back(std::get<Dispatcher::Ticket>(scene.submit("hang")));
  scene.engine.await(2);

  for (Dispatcher::Ticket ticket : tickets) scene.dispatcher->withdraw(ticket);
  scene.run_until(3);

  CHECK(scene.labels == std::vector<std::string>(3, "Cancelled"));
  scene.dispatcher->withdraw(tickets.front());  // long gone
}

TEST_CASE("at the end all that is left is Cancelled", "[service][dispatcher]") {
  Scene scene(10);
  for (int i = 0; i < 5; ++i) scene.submit("hang");

  scene.dispatcher->cancel_all();
  scene.run_until(5);

  CHECK(scene.labels == std::vector<std::string>(5, "Cancelled"));
}

TEST_CASE("short jobs are given to the engine several at a time, long ones are not",
          "[service][dispatcher]") {
  const auto [source, with_the_engine] =
      GENERATE(std::pair("short", size_t{10}), std::pair("long", size_t{2}));
  Scene scene(100);
  scene.submit(source);
  scene.run_until(1);
  scene.submit(source);
  for (int i = 0; i < 20; ++i) scene.submit("hang");
  CHECK(scene.dispatcher->running() == 2);

  scene.run_until(2);

  CHECK(scene.dispatcher->running() == with_the_engine);
  scene.dispatcher->cancel_all();
  scene.run_until(22);
}

TEST_CASE("a job's own word on its tenant counts only where the dispatcher is told so",
          "[service][dispatcher][tenants]") {
  Scene plain(10);
  plain.submit_for("x", "job");
  plain.run_until(1);
  CHECK(plain.engine.tenants() == std::vector<std::string>{""});

  Scene trusting(10, [](const std::string&, const std::string& asked) {
    return sys::Result<std::string>(asked);
  });
  trusting.submit_for("x", "job");
  trusting.run_until(1);
  CHECK(trusting.engine.tenants() == std::vector<std::string>{"x"});
}

TEST_CASE("a tenant that the client may not say is BadJob, and the engine never sees the job",
          "[service][dispatcher][tenants]") {
  Scene scene(10, [](const std::string&, const std::string& asked) -> sys::Result<std::string> {
    if (asked == "x") return sys::Error::because("tenant: no");
    return asked;
  });
  scene.submit_for("x", "job");
  scene.submit_for("y", "job");

  scene.run_until(2);

  CHECK(scene.engine.tenants() == std::vector<std::string>{"y"});
  CHECK(std::count(scene.labels.begin(), scene.labels.end(), "BadJob") == 1);
  CHECK(scene.dispatcher->running() == 0);
}

TEST_CASE("tenants take turns, though one client sends for all of them",
          "[service][dispatcher][tenants]") {
  Scene scene(100, [](const std::string&, const std::string& asked) {
    return sys::Result<std::string>(asked);
  });
  for (int i = 0; i < 20; ++i) scene.submit_for("many", "job");
  scene.submit_for("few", "job");

  scene.run_until(21);

  // Two were with the engine when it came, and one of the others may be next.
  const std::vector<std::string> order = scene.engine.tenants();
  const auto few = std::find(order.begin(), order.end(), "few") - order.begin();
  CHECK(few <= 3);
}

}  // namespace service
