#include "tools/cli/mcp/mcp.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "runtime/host/proc.h"
#include "service/apis/mcp/conversation.h"
#include "service/apis/mcp/http_requests.h"
#include "tools/cli/batch/line_reader.h"
#include "tools/cli/mcp/bench.h"
#include "tools/cli/mcp/input_thread.h"
#include "tools/cli/refusal.h"
#include "tools/cli/run/run_job.h"
#include "tools/cli/text.h"

#ifndef ZYGO_VERSION
#define ZYGO_VERSION "0"
#endif

namespace cli {
namespace {

using service::mcp::Conversation;
using service::mcp::Incoming;

// Lines in, lines out. Ends with its input, when everything that was asked is answered, with its
// output, or when it is told to.
class StdioServer {
 public:
  StdioServer(Bench& bench, const StopSignals* stop)
      : loop_(bench.loop()),
        stop_(stop),
        lines_(service::mcp::kMostBody),
        conversation_(bench.interpreter(), ZYGO_VERSION),
        input_(
            loop_, STDIN_FILENO, [this](std::string_view bytes) { take(bytes); },
            [this] {
              lines_.finish();
              take({});
              at_end_ = true;
              end_if_answered();
            }) {
    if (!stop_) return;
    told_to_stop_.emplace(loop_, stop_->fd(), [this] {
      told_to_stop_->stop();
      loop_.stop();
    });
    told_to_stop_->start();
  }

  void run() { loop_.run(); }

 private:
  void take(std::string_view bytes) {
    lines_.append(bytes);
    while (const std::optional<Line> line = lines_.next()) receive(*line);
  }

  void receive(const Line& line) {
    Incoming incoming;
    if (line.too_long) {
      incoming.error = service::mcp::kInvalidRequest;
      incoming.why = "this message is too long";
    } else {
      incoming = service::mcp::read_messages(line.text);
    }
    ++unanswered_;
    conversation_.receive(incoming, {[this](const std::string& text) { say(text); },
                                     [this](const std::string& text) {
                                       if (!text.empty()) say(text);
                                       --unanswered_;
                                       end_if_answered();
                                     }});
  }

  void end_if_answered() {
    if (at_end_ && unanswered_ == 0) loop_.stop();
  }

  // Waits for its reader, but not when it is told to stop.
  void say(std::string line) {
    line += '\n';
    std::string_view rest = line;
    while (!rest.empty()) {
      std::array<pollfd, 2> ready{
          {{STDOUT_FILENO, POLLOUT, 0}, {stop_ ? stop_->fd() : -1, POLLIN, 0}}};
      if (::poll(ready.data(), ready.size(), -1) < 0) continue;  // EINTR
      if (ready[1].revents != 0) return loop_.stop();
      constexpr size_t kOfPipe = 4096;  // that fit into a pipe which can be written
      const ssize_t n = ::write(STDOUT_FILENO, rest.data(), std::min(rest.size(), kOfPipe));
      if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (n <= 0) return loop_.stop();  // nobody reads it any more
      rest.remove_prefix(static_cast<size_t>(n));
    }
  }

  runtime::Loop& loop_;
  const StopSignals* const stop_;
  LineReader lines_;
  size_t unanswered_ = 0;
  bool at_end_ = false;
  Conversation conversation_;
  std::optional<runtime::Readable> told_to_stop_;
  InputThread input_;
};

}  // namespace

int mcp_command(const CommandLine& line, const Parts& parts) {
  const unsigned workers = std::max(2u, runtime::usable_cpus());
  auto options = engine_options(line.common, parts.builtin_templates, workers, parts.stop);
  if (auto* refusal = std::get_if<Refusal>(&options)) return refuse("mcp", *refusal);
  const auto known = known_templates(line.common, parts.builtin_templates);
  if (const auto* refusal = std::get_if<Refusal>(&known)) return refuse("mcp", *refusal);
  RunOptions of_steps = line.run;
  of_steps.is_command = true;  // there is no file to read
  of_steps.stdin_file = "/dev/null";
  auto made = make_run_job(of_steps, line.common);
  if (auto* refusal = std::get_if<Refusal>(&made)) return refuse("mcp", *refusal);
  runtime::JobDefaults steps{std::get<RunJob>(std::move(made)).job};
  steps.job.id.clear();
  steps.job.stdin_fd = -1;
  runtime::JobDefaults programs = steps;
  programs.job.policy = {};  // each language has its own profile
  const auto& templates = std::get<std::vector<runtime::TemplateSpec>>(known);
  if (const auto refusal = check_template(steps.job.template_name, templates))
    return refuse("mcp", *refusal);
  auto engine = parts.start_engine(std::get<runtime::EngineOptions>(std::move(options)));
  if (!engine) return refuse("mcp", {engine.error().text(), kExitSandbox});
  if (!(*engine)->keeps_nodes())
    return refuse("mcp", {"this engine keeps no sessions", kExitSandbox});

  Bench bench(**engine, std::move(steps), std::move(programs),
              [&templates](const std::string& name) { return !check_template(name, templates); });
  bench.warm_up();
  StdioServer(bench, parts.stop).run();
  return kExitOk;
}

}  // namespace cli
