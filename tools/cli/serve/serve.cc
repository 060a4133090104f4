#include "tools/cli/serve/serve.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cluster/engines/slot.h"
#include "cluster/link/dial.h"
#include "runtime/builds/blobs.h"
#include "runtime/host/proc.h"
#include "runtime/json/job/job_check.h"
#include "runtime/loop/helpers.h"
#include "sandbox/sys/file.h"
#include "service/apis/registry.h"
#include "service/http/allowance.h"
#include "service/observe/access_log.h"
#include "service/observe/systemd.h"
#include "tools/cli/cluster/pilot.h"
#include "tools/cli/cluster/print.h"
#include "tools/cli/runtime_list.h"
#include "tools/cli/selfcheck/process.h"
#include "tools/cli/serve/front.h"
#include "tools/cli/serve/front_process.h"
#include "tools/cli/serve/init_process.h"
#include "tools/cli/serve/listeners.h"
#include "tools/cli/serve/plan.h"
#include "tools/cli/serve/reload.h"
#include "tools/cli/text.h"

namespace cli {
namespace {

void say_ready(const CommandLine& line, const std::vector<std::string>& names,
               const runtime::Engine& engine) {
  if (line.common.json) {
    const nlohmann::ordered_json ready = {{"listening", names},
                                          {"level", sandbox::name_of(engine.standing().level)},
                                          {"workers", engine.workers()},
                                          {"pid", ::getpid()}};
    static_cast<void>(sys::write_all(STDOUT_FILENO, ready.dump() + "\n").ok());
  } else if (!line.common.quiet) {
    const std::string where = names.empty() ? "" : fmt::format(" on {}", fmt::join(names, ", "));
    write_error_line(fmt::format("zygo {}: ready{} (level {}, {} workers)", name_of_command(line),
                                 where, sandbox::name_of(engine.standing().level),
                                 engine.workers()));
  }
}

constexpr sys::Milliseconds kDialPatience{10'000};

constexpr unsigned kHelpers = 4;  // threads, for questions and for long jobs

// Answers what the front asks for and cannot do itself; runs on another thread.
sys::Result<runtime::Answer> answer_to(runtime::Question question, const CommandLine& line,
                                       const Parts& parts, unsigned workers) {
  runtime::Answer answer;
  switch (question) {
    case runtime::Question::kRuntimes: {
      const std::vector<OfferedRuntime> offered = offered_runtimes(line, parts);
      answer.is_whole = std::all_of(offered.begin(), offered.end(),
                                    [](const OfferedRuntime& each) { return each.asked; });
      answer.text = runtime_json(offered) + "\n";
      break;
    }
    case runtime::Question::kSelfcheck:
      answer.text = TRY(run_selfcheck(line.common, parts.stop));
      break;
    case runtime::Question::kConfiguration:
      answer.text = TRY(reread(line, workers));
      break;
    case runtime::Question::kDial:  // the host's own
    case runtime::Question::kNodes:
      break;
  }
  return answer;
}

void tell_supervisor(runtime::ServiceState state) {
  switch (state) {
    case runtime::ServiceState::kReady:
      return service::notify_supervisor("READY=1");
    case runtime::ServiceState::kReloading:
      return service::notify_supervisor(
          fmt::format("RELOADING=1\nMONOTONIC_USEC={}", sys::monotonic_now().count() / 1000));
    case runtime::ServiceState::kEnding:
      return service::notify_supervisor("STOPPING=1");
  }
}

// The process that has the engine: starts the one that answers requests, and runs until it is told
// to stop and that one has answered everything.
class EngineProcess {
 public:
  EngineProcess(const CommandLine& line, const Parts& parts, runtime::Engine& engine,
                std::vector<service::Listener> listeners, const FrontOrder& order,
                std::vector<cluster::JoinUrl> routers)
      : line_(line),
        routers_(std::move(routers)),
        parts_(parts),
        engine_(engine),
        listeners_(std::move(listeners)),
        held_(line.serve.held.count),
        front_(engine, loop_, front_options(order)) {}

  // `reload`: a descriptor, each byte of which asks for the configuration to be read again; -1:
  // there is none. Returns the exit code.
  sys::Result<int> run(int reload) {
    TRY(front_.start());
    std::optional<runtime::Readable> stop_watch, reload_watch;
    runtime::Timer slot_ends(loop_, [this] {
      write_error_line(service::noted(line_.serve.log, "the slot ends soon: taking nothing new",
                                      name_of_command(line_)));
      begin_end();
    });
    if (const auto left = time_to_drain()) slot_ends.start(*left);
    if (parts_.stop != nullptr) {
      stop_watch.emplace(loop_, parts_.stop->fd(), [&] {
        stop_watch->stop();
        begin_end();
      });
      stop_watch->start();
    }
    if (reload >= 0) {
      reload_watch.emplace(loop_, reload, [this, reload] {
        char asked[64];
        while (::read(reload, asked, sizeof asked) > 0) {
        }
        front_.reload();
      });
      reload_watch->start();
    }
    loop_.run();
    return code_;
  }

 private:
  void begin_end() {
    front_.stop();
    listeners_.clear();  // who comes now is turned away by the kernel
  }

  // Of a pilot in a slot whose end is known.
  std::optional<std::chrono::seconds> time_to_drain() const {
    if (line_.pilot.until == 0) return std::nullopt;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const std::chrono::nanoseconds end = std::chrono::seconds(line_.pilot.until);
    return std::max(std::chrono::seconds(0), std::chrono::duration_cast<std::chrono::seconds>(
                                                 end - line_.pilot.drain_before - now));
  }

  FrontProcess::Options front_options(const FrontOrder& order) {
    FrontProcess::Options options;
    options.arguments = front_arguments(order);
    for (const service::Listener& listener : listeners_) {
      names_.push_back(listener.name());
      options.listeners.push_back(listener.fd());
    }
    options.host = host_options();
    options.log = [this](const std::string& step) {
      write_error_line(service::noted(line_.serve.log, step, name_of_command(line_)));
    };
    options.ended = [this](int status) {
      code_ = status > 128 ? kExitSandbox : status;
      loop_.stop();
    };
    return options;
  }

  runtime::EngineHost::Options host_options() {
    runtime::EngineHost::Options options;
    options.holding_for = [this](const std::string& client) {
      return std::make_shared<service::JobHolding>(service::Allowance::Share(held_, client));
    };
    options.objection = runtime::objection_to;
    options.answer = [this](runtime::Question question) {
      return answer_to(question, line_, parts_, engine_.workers());
    };
    if (!routers_.empty()) {
      options.dial = [this](uint32_t index) -> sys::Result<sys::OwnedFd> {
        if (index >= routers_.size()) return sys::Error::because("there is no such router");
        return cluster::dial(routers_[index], kDialPatience);
      };
    }
    options.aside = [this](auto work, auto done) {
      return aside(std::move(work), std::move(done));
    };
    options.tell = [this](runtime::ServiceState state) {
      tell_supervisor(state);
      if (state == runtime::ServiceState::kReady && !std::exchange(said_ready_, true))
        say_ready(line_, names_, engine_);
    };
    return options;
  }

  // No thread before somebody needs one: a service may have few processes.
  bool aside(std::function<void()> work, std::function<void()> done) {
    if (!helpers_) {
      auto started = runtime::Helpers::start(loop_, kHelpers, {});
      if (!started) return false;
      helpers_ = std::move(started).value();
    }
    helpers_->run(runtime::Helpers::Where::kAnywhere, std::move(work), std::move(done));
    return true;
  }

  const CommandLine& line_;
  const std::vector<cluster::JoinUrl> routers_;  // of a pilot
  const Parts& parts_;
  runtime::Engine& engine_;
  std::vector<service::Listener> listeners_;
  std::vector<std::string> names_;
  const service::Allowance held_;
  int code_ = kExitOk;
  bool said_ready_ = false;
  runtime::Loop loop_;
  std::unique_ptr<runtime::Helpers> helpers_;
  FrontProcess front_;
};

int serve(const CommandLine& line, const Parts& parts,
          const std::vector<cluster::JoinUrl>& routers) {
  const std::string command = name_of_command(line);
  if (auto left = leave_pid_1(); !left) return refuse(command, {left.error().text(), kExitSandbox});
  auto engine_wish = engine_options(line.common, parts.builtin_templates, line.serve.workers);
  if (auto* refusal = std::get_if<Refusal>(&engine_wish)) return refuse(command, *refusal);
  auto plan = plan_service(line, parts);
  if (auto* refusal = std::get_if<Refusal>(&plan)) return refuse(command, *refusal);
  auto& wish = std::get<runtime::EngineOptions>(engine_wish);
  for (const service::KnownApi* api : line.serve.apis) {
    if (!api->scratch_name.empty()) wish.scratch_names.emplace_back(api->scratch_name);
  }
  wish.tenant_templates = line.serve.tenant_templates;
  wish.tenant_idle = line.serve.tenant_idle;
  wish.nodes_memory = line.serve.nodes_memory;
  wish.nodes_disk = line.serve.nodes_disk;
  wish.nodes_disk_size = line.serve.nodes_disk_size;
  wish.nodes_idle = line.serve.nodes_idle;
  wish.steps_stay = line.serve.steps_stay;
  wish.share_builds = line.serve.share_builds;
  wish.core_cookies = line.serve.core_scheduling;
  wish.log = [log = line.serve.log, command](const std::string& step) {
    write_error_line(service::noted(log, step, command));
  };
  FrontOrder order{
      .with_tokens = !line.serve.tokens.empty(), .blobs = wish.blobs, .arguments = line.arguments};
  auto listeners = open_listeners(line.serve, routers.empty() ? kDefaultListen : nullptr);
  if (auto* refusal = std::get_if<Refusal>(&listeners)) return refuse(command, *refusal);
  order.listeners = std::get<std::vector<service::Listener>>(listeners).size();

  auto engine = parts.start_engine(std::move(wish));
  if (!engine) return refuse(command, {engine.error().text(), kExitSandbox});
  if (auto refusal = make_room(line.serve, (*engine)->workers())) return refuse(command, *refusal);
  auto reload = install_reload_signal();
  if (!reload) return refuse(command, {reload.error().text(), kExitSandbox});
  // The front may not make them. Where they cannot be made, whoever sends a blob is told so.
  if (!order.blobs.empty()) (void)runtime::BlobStore(order.blobs).make_folders();
  EngineProcess process(line, parts, **engine,
                        std::get<std::vector<service::Listener>>(std::move(listeners)), order,
                        routers);
  const auto code = process.run(reload->get());
  return code ? *code : refuse(command, {code.error().text(), kExitSandbox});
}

}  // namespace

// A pilot finds its slot first: engines tell it in the environment, and their own programs do.
int serve_command(const CommandLine& given, const Parts& parts) {
  CommandLine line = given;
  const bool is_pilot = !line.pilot.join.empty();
  const std::string command = name_of_command(line);
  if (!line.pilot.print.empty()) return print_command(line.pilot);
  auto pilot = plan_pilot(line.pilot);
  if (auto* refusal = std::get_if<Refusal>(&pilot)) return refuse(command, *refusal);
  if (is_pilot) {
    const cluster::Slot slot = cluster::read_slot();
    line.pilot = settle(line.pilot, slot);
    line.serve.workers = workers_in(slot, runtime::usable_cpus(), line.serve.workers);
    auto refusal = obtain_environment(line, std::get<PilotPlan>(pilot), parts.stop->fd());
    if (parts.stop->came()) return kExitOk;
    if (refusal) return refuse(command, *refusal);
  }
  return serve(line, parts, std::get<PilotPlan>(std::move(pilot)).routers);
}

}  // namespace cli
