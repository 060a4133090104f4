#include "tools/cli/serve/serve.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/builds/blobs.h"
#include "runtime/json/job/job_check.h"
#include "runtime/loop/helpers.h"
#include "sandbox/sys/file.h"
#include "service/apis/registry.h"
#include "service/http/allowance.h"
#include "service/http/listener.h"
#include "service/observe/access_log.h"
#include "service/observe/systemd.h"
#include "tools/cli/runtime_list.h"
#include "tools/cli/selfcheck/process.h"
#include "tools/cli/serve/front.h"
#include "tools/cli/serve/front_process.h"
#include "tools/cli/serve/init_process.h"
#include "tools/cli/serve/plan.h"
#include "tools/cli/serve/reload.h"
#include "tools/cli/text.h"

namespace cli {
namespace {

std::variant<std::vector<service::Listener>, Refusal> open_listeners(const ServeOptions& options) {
  auto inherited = service::Listener::inherited();
  if (!inherited) return Refusal{inherited.error().text(), kExitSandbox};
  std::vector<service::Listener> listeners = std::move(inherited).value();
  std::vector<std::string> wanted = options.listen;
  if (wanted.empty() && listeners.empty()) wanted.emplace_back(kDefaultListen);
  for (const std::string& text : wanted) {
    auto address = service::parse_listen_address(text);
    if (!address) return Refusal{"--listen: " + address.error().text()};
    auto listener = service::Listener::open(*address, options.socket_mode);
    if (!listener) return Refusal{"--listen: " + listener.error().text(), kExitSandbox};
    listeners.push_back(std::move(listener).value());
  }
  if (listeners.size() > kMostListeners)
    return Refusal{fmt::format("--listen: at most {} addresses", kMostListeners)};
  for (const service::Listener& listener : listeners) {
    if (listener.is_local() || !options.tokens.empty() || options.allow_anyone) continue;
    return Refusal{fmt::format(
        "{} can be reached from other hosts, and whoever reaches it could run programs here; give "
        "--tokens FILE (ZYGO_TOKENS), or say --allow-anyone (ZYGO_ALLOW_ANYONE=yes)",
        listener.name())};
  }
  return listeners;
}

void say_ready(const CommandLine& line, const std::vector<std::string>& names,
               const runtime::Engine& engine) {
  if (line.common.json) {
    const nlohmann::ordered_json ready = {{"listening", names},
                                          {"level", sandbox::name_of(engine.standing().level)},
                                          {"workers", engine.workers()},
                                          {"pid", ::getpid()}};
    static_cast<void>(sys::write_all(STDOUT_FILENO, ready.dump() + "\n").ok());
  } else if (!line.common.quiet) {
    write_error_line(fmt::format("zygo serve: ready on {} (level {}, {} workers)",
                                 fmt::join(names, ", "), sandbox::name_of(engine.standing().level),
                                 engine.workers()));
  }
}

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
                std::vector<service::Listener> listeners, const FrontOrder& order)
      : line_(line),
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
    if (parts_.stop != nullptr) {
      stop_watch.emplace(loop_, parts_.stop->fd(), [&] {
        stop_watch->stop();
        front_.stop();
        listeners_.clear();  // who comes now is turned away by the kernel
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
  FrontProcess::Options front_options(const FrontOrder& order) {
    FrontProcess::Options options;
    options.arguments = front_arguments(order);
    for (const service::Listener& listener : listeners_) {
      names_.push_back(listener.name());
      options.listeners.push_back(listener.fd());
    }
    options.host = host_options();
    options.log = [this](const std::string& step) {
      write_error_line(service::noted(line_.serve.log, step));
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

}  // namespace

int serve_command(const CommandLine& line, const Parts& parts) {
  if (auto left = leave_pid_1(); !left) return refuse("serve", {left.error().text(), kExitSandbox});
  auto engine_wish = engine_options(line.common, parts.builtin_templates, line.serve.workers);
  if (auto* refusal = std::get_if<Refusal>(&engine_wish)) return refuse("serve", *refusal);
  auto plan = plan_service(line, parts);
  if (auto* refusal = std::get_if<Refusal>(&plan)) return refuse("serve", *refusal);
  auto& wish = std::get<runtime::EngineOptions>(engine_wish);
  for (const service::KnownApi* api : line.serve.apis) {
    if (!api->scratch_name.empty()) wish.scratch_names.emplace_back(api->scratch_name);
  }
  wish.tenant_templates = line.serve.tenant_templates;
  wish.tenant_idle = line.serve.tenant_idle;
  wish.share_builds = line.serve.share_builds;
  wish.core_cookies = line.serve.core_scheduling;
  wish.log = [log = line.serve.log](const std::string& step) {
    write_error_line(service::noted(log, step));
  };
  FrontOrder order{
      .with_tokens = !line.serve.tokens.empty(), .blobs = wish.blobs, .arguments = line.arguments};
  auto listeners = open_listeners(line.serve);
  if (auto* refusal = std::get_if<Refusal>(&listeners)) return refuse("serve", *refusal);
  order.listeners = std::get<std::vector<service::Listener>>(listeners).size();

  auto engine = parts.start_engine(std::move(wish));
  if (!engine) return refuse("serve", {engine.error().text(), kExitSandbox});
  if (auto refusal = make_room(line.serve.connections, (*engine)->workers()))
    return refuse("serve", *refusal);
  auto reload = install_reload_signal();
  if (!reload) return refuse("serve", {reload.error().text(), kExitSandbox});
  // The front may not make them. Where they cannot be made, whoever sends a blob is told so.
  if (!order.blobs.empty()) (void)runtime::BlobStore(order.blobs).make_folders();
  EngineProcess process(line, parts, **engine,
                        std::get<std::vector<service::Listener>>(std::move(listeners)), order);
  const auto code = process.run(reload->get());
  return code ? *code : refuse("serve", {code.error().text(), kExitSandbox});
}

}  // namespace cli
