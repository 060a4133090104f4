#include "tools/cli/mcp/bench.h"

#include <utility>

#include "service/apis/mcp/session_interpreter.h"

namespace cli {

namespace {

constexpr size_t kHeld = size_t{1} << 30;
constexpr const char* kClient = "stdio";
constexpr std::string_view kApi = "mcp";

service::Dispatcher::Options dispatcher_options() {
  service::Dispatcher::Options options;
  options.ended = [](const service::Finished&) {};
  options.room = [] {};
  return options;
}

}  // namespace

Bench::Bench(runtime::Engine& engine, runtime::JobDefaults steps, runtime::JobDefaults programs,
             std::function<bool(const std::string&)> knows_template)
    : steps_(std::move(steps)),
      programs_(std::move(programs)),
      held_(kHeld),
      deadlines_(loop_),
      dispatcher_(engine, loop_, deadlines_, held_, dispatcher_options()),
      keeper_({tenancy_, engine, loop_, dispatcher_}, kHeld),
      jobs_(dispatcher_),
      sessions_({keeper_, tenancy_, engine, dispatcher_, jobs_, held_, steps_,
                 std::move(knows_template)}) {}

std::unique_ptr<service::mcp::Interpreter> Bench::interpreter() {
  return std::make_unique<service::mcp::SessionInterpreter>(
      service::mcp::SessionInterpreter::Parts{sessions_, jobs_, dispatcher_, held_, programs_,
                                              kApi},
      kClient);
}

void Bench::warm_up() {
  service::Dispatcher::Order order;
  order.job.template_name = steps_.job.template_name;
  order.job.id = "warm-up";
  order.client = kClient;
  order.done = [](const service::Finished&) {};
  (void)dispatcher_.submit(std::move(order));
}

}  // namespace cli
