// zygo-stub-pilot: a pilot that runs nothing. It joins one router as `zygo pilot` does, by the same
// code, and has an empty OK for each job at once: what then takes time is the router's.

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "cluster/link/dial.h"
#include "cluster/link/join_url.h"
#include "cluster/link/link.h"
#include "cluster/pilot/enrolment.h"
#include "runtime/engine/engine.h"
#include "runtime/loop/loop.h"
#include "service/deadlines.h"
#include "service/http/allowance.h"

namespace {

constexpr const char* kHelp =
    "usage: zygo-stub-pilot URL WORKERS\n"
    "\n"
    "Joins the router at URL, which asks for no token, as a pilot with so many workers (1 to "
    "4096),\n"
    "and answers each job of template python at once with OK, without running it. Ends with its\n"
    "router. For benches (tools/bench router).\n";

class StubEngine : public runtime::Engine {
 public:
  explicit StubEngine(unsigned workers) : workers_(workers) {}

  void submit(runtime::Job job, std::function<void(runtime::JobResult)> done) override {
    runtime::JobResult result;
    result.id = job.id;
    result.tag = job.tag;
    result.verdict.outcome = runtime::Outcome::kOk;
    if (job.watch) job.watch->begin();
    done(std::move(result));
  }
  unsigned workers() const override { return workers_; }
  void cancel_all() override {}
  void cancel_withdrawn() override {}
  Standing standing() const override { return {sandbox::Level::kFull, sandbox::Layers::all()}; }

 private:
  const unsigned workers_;
};

cluster::Enrolment::House house_of(const cluster::JoinUrl& url, StubEngine& engine,
                                   runtime::Loop& loop, service::Deadlines& deadlines,
                                   service::Allowance& held) {
  cluster::Hello hello;
  hello.name = "stub";
  hello.workers = engine.workers();
  hello.layers = engine.standing().layers.bits();
  hello.templates = {"python"};
  const auto say = [](const std::string& line) {
    fmt::print(stderr, "zygo-stub-pilot: {}\n", line);
  };
  return {.engine = engine,
          .loop = loop,
          .deadlines = deadlines,
          .held = held,
          .hello = [hello] { return hello; },
          .status = [] { return cluster::Status{.under_way = 0, .mean_us = 1, .counts = {}}; },
          .dial = [url] { return cluster::dial(url, std::chrono::seconds(10)); },
          .link =
              [url, &loop](sys::OwnedFd socket, cluster::LinkListener& listener) {
                return cluster::Link::start(loop, std::move(socket), url, "", listener, {});
              },
          .has_room = [] { return true; },
          .ended = [](const runtime::JobResult&) {},
          .log = say,
          .trouble =
              [say](const std::string& line) {
                say(line);
                std::exit(1);
              },
          .rested = [] {},
          .router = url.text()};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--help") return std::fputs(kHelp, stdout) < 0;
  const int workers = argc == 3 ? std::atoi(argv[2]) : 0;
  if (workers < 1 || workers > 4096) {
    fmt::print(stderr, "{}", kHelp);
    return 2;
  }
  const auto url = cluster::parse_join_url(argv[1]);
  if (!url) {
    fmt::print(stderr, "zygo-stub-pilot: {}\n", url.error().text());
    return 2;
  }
  ::signal(SIGPIPE, SIG_IGN);
  StubEngine engine(static_cast<unsigned>(workers));
  runtime::Loop loop;
  service::Deadlines deadlines(loop);
  service::Allowance held(size_t{1} << 30);
  cluster::Enrolment enrolment(house_of(*url, engine, loop, deadlines, held));
  enrolment.start();
  loop.run();
}
