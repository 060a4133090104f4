#include "service/apis/e2b/inside.h"

#include <fmt/format.h>

#include <algorithm>

#include "service/apis/e2b/code_run.h"
#include "service/apis/results.h"
#include "service/jupyter/prelude.h"

namespace service::e2b {

using nlohmann::ordered_json;

namespace {

// Beyond the bytes of a file: what is said of them.
constexpr uint64_t kBeyondContent = 1 << 20;
// A bound for what code prints and shows: pictures are a part of it.
constexpr sys::Bytes kMostShown{16 << 20};

RpcError too_many_wait() {
  return {"resource_exhausted", "too many requests wait for this sandbox already", 429};
}

// What has changed something is not done if that could not be kept.
Dispatcher::Words if_kept(Dispatcher::Words words, Response (*refused)(const RpcError& error)) {
  return [words = std::move(words), refused](const runtime::JobResult& result) {
    Response response = words(result);
    const auto loss = response.status < 300 ? loss_of(result) : std::nullopt;
    if (loss) return refused(*loss);
    return response;
  };
}

// A step of the session that runs this code as a cell.
std::string source_of_cell(const std::string& code, unsigned count) {
  return jupyter::prelude_call("cell", {{"code", code},
                                        {"count", count},
                                        {"silent", false},
                                        {"noted", true},
                                        {"may_ask", false},
                                        {"expressions", nlohmann::json::object()}});
}

// The sandbox was killed: its client sees the connection break, as it does there.
void break_off(const ExchangePtr& exchange) {
  exchange->begin({});
  exchange->abort();
}

}  // namespace

Route Inside::route(Method method, std::string_view pattern, Asked asked) {
  // The secret of the sandbox is the permission.
  return {method, pattern, Scope::kOpen,
          [this, asked](const ExchangePtr& exchange, const std::string& parameter) {
            (this->*asked)(exchange, parameter);
          }};
}

Routes Inside::routes() {
  Routes all = {
      route(Method::kPost, "/execute", &Inside::execute),
      route(Method::kGet, "/files", &Inside::read_file),
      route(Method::kPost, "/files", &Inside::write_files),
      route(Method::kPost, "/filesystem.Filesystem/{method}", &Inside::file_call),
      route(Method::kPost, "/process.Process/{method}", &Inside::process_call),
      route(Method::kGet, "/health", &Inside::health),
  };
  all.back().probe = Probe::kYes;
  return all;
}

void Inside::health(const ExchangePtr& exchange, const std::string&) {
  if (sandbox_of(exchange, parts_.store)) exchange->answer({.status = 204});
}

RpcError Inside::note_refusal(const std::string& sandbox, const std::string& context,
                              const ForeignSessions::Refusal& refusal) {
  if (!parts_.store.find(sandbox)) return error_of({410, refusal.why});
  const bool has_gone_on = is_gone(refusal) && !lost_(sandbox, context, refusal.why);
  if (has_gone_on)
    return {"aborted", "the sandbox has gone on meanwhile; its state of then is gone"};
  return error_of(refusal);
}

template <typename Read>
void Inside::read_body(const ExchangePtr& exchange, Read (*read)(const Request& request),
                       ThenIn<Read> then) {
  if (!sandbox_of(exchange, parts_.store)) return;
  auto made = std::make_shared<std::optional<Read>>();
  parts_.context.readers.read_body(
      exchange, [exchange, made, read] { *made = read(exchange->request); },
      [this, exchange, made, then] {
        exchange->request.body = std::string();  // what was made of it has it now
        if (Sandbox* sandbox = sandbox_of(exchange, parts_.store))
          (this->*then)(exchange, *sandbox, std::move(**made));
      });
}

Inside::ReadCode Inside::read_code(const Request& request) { return read_execute(request.body); }

void Inside::execute(const ExchangePtr& exchange, const std::string&) {
  read_body(exchange, read_code, &Inside::run_code);
}

void Inside::run_code(const ExchangePtr& exchange, Sandbox& sandbox, ReadCode read) {
  if (auto* refused = std::get_if<Response>(&read)) return exchange->answer(std::move(*refused));
  auto& execution = std::get<Execution>(read);
  if (!is_offered(execution.language)) {
    return exchange->answer(
        {.body = error_record("LanguageNotOffered", why_not_offered(execution.language))});
  }
  Context* context = context_of(exchange, sandbox, execution.context);
  if (!context) return;
  settle(sandbox, *context);
  Steps::Task task = code_task(exchange, std::move(execution), sandbox, context->id);
  if (!parts_.steps.change(sandbox, context->id, std::move(task)))
    exchange->answer(with_retry(refusal(429, too_many_wait().message), 1));
}

Steps::Task Inside::code_task(const ExchangePtr& exchange, Execution execution,
                              const Sandbox& sandbox, const std::string& context) {
  Steps::Task task;
  task.exchange = exchange;
  task.note = line_of({{"source", "# E2B: code"}});
  const nlohmann::json env = texts_of(execution.env);
  auto run = std::make_shared<CodeRun>(exchange, parts_.context.loop, sandbox.word);
  const auto count = [this, id = sandbox.id, context] {
    Sandbox* of = parts_.store.find(id);
    Context* in = of ? of->context(context) : nullptr;
    return in ? in->executions + 1 : 1;
  };
  auto ended = std::make_shared<CodeRun::Ended>();
  task.fill = [run, count, ended, execution = std::move(execution)](runtime::Job& job) mutable {
    job.source = source_of_cell(execution.code, count());
    job.env = std::move(execution.env);
    job.limits.out = std::max(job.limits.out, kMostShown);
    job.policy.refusals = runtime::Refusals::kOverlooked;  // an error for the code
    auto live = run->open();
    ended->is_live = live.ok();
    if (live) job.live = std::move(live).value();
  };
  task.words = [ended](const runtime::JobResult& result) {
    ended->end = code_end(result);
    if (!ended->is_live) ended->rest = {.out = result.out.bytes, .err = result.err.bytes};
    return Response{};
  };
  task.begun = [this, run, count, id = sandbox.id, context] {
    const unsigned executions = count();
    Sandbox* of = parts_.store.find(id);
    if (Context* in = of ? of->context(context) : nullptr) in->executions = executions;
    run->begin(executions);
  };
  task.told = [this, exchange, id = sandbox.id, context, env, run, ended](Outcome outcome) {
    if (!parts_.store.find(id)) return break_off(exchange);
    if (const auto* no = std::get_if<ForeignSessions::Refusal>(&outcome)) {
      const Response refused = files_refusal(note_refusal(id, context, *no));
      if (!run->has_begun()) return exchange->answer(plain(refused.status, no->why));
      return run->end({.end = {error_record("NotRun", no->why)}}, nullptr);
    }
    auto& ran = std::get<ForeignSessions::Ran>(outcome);
    if (ran.kept) restore(id, context, env);
    if (!ran.finished.response) ended->end.error = error_record(ran.finished.label, "withdrawn");
    run->end(std::move(*ended), std::move(ran.finished.held));
  };
  return task;
}

void Inside::restore(const std::string& sandbox, const std::string& context,
                     const nlohmann::json& env) {
  Sandbox* of = parts_.store.find(sandbox);
  Context* in = of ? of->context(context) : nullptr;
  if (!in) return;
  for (const auto& [name, value] : env.items())
    in->leftovers[name] = of->env.value(name, nlohmann::json());
  settle(*of, *in);
}

// Before whatever waits. Where that cannot be done now, the next code comes behind another try.
void Inside::settle(const Sandbox& sandbox, Context& context) {
  if (context.leftovers.empty() || std::exchange(context.settles, true)) return;
  const auto find = [this, of = sandbox.id, in = context.id] {
    Sandbox* there = parts_.store.find(of);
    return there ? there->context(in) : nullptr;
  };
  Order order{{{"do", "restore"}}, true};
  Steps::Task task = task_of(order);
  task.fill = [find, order](runtime::Job& job) mutable {
    const Context* settled = find();
    order.what["variables"] = settled ? settled->leftovers : nlohmann::json::object();
    job.source = source_of(order);
  };
  task.told = [find](const Outcome& outcome) {
    Context* settled = find();
    if (!settled) return;
    settled->settles = false;
    const auto* ran = std::get_if<ForeignSessions::Ran>(&outcome);
    if (ran && ran->kept) settled->leftovers.clear();
  };
  parts_.steps.change_next(sandbox, context.id, std::move(task));
}

void Inside::obey(const ExchangePtr& exchange, Sandbox& sandbox, const Order& order,
                  Dispatcher::Words words, Refused refused, std::vector<runtime::InputFile> files) {
  Steps::Task task;
  task.exchange = exchange;
  task.fill = [source = source_of(order), files = std::move(files)](runtime::Job& job) mutable {
    job.source = std::move(source);
    job.files = std::move(files);
    job.policy.refusals = runtime::Refusals::kOverlooked;  // an error of the order
    job.limits.out = std::max(job.limits.out, sys::Bytes{kMostRead + kBeyondContent});
  };
  task.note = note_of(order);
  task.words = order.changes ? if_kept(std::move(words), refused) : std::move(words);
  task.told = [this, exchange, refused, id = sandbox.id,
               context = sandbox.usual().id](Outcome outcome) {
    if (const auto* no = std::get_if<ForeignSessions::Refusal>(&outcome))
      return exchange->answer(refused(note_refusal(id, context, *no)));
    auto& ran = std::get<ForeignSessions::Ran>(outcome);
    Response response = ran.finished.response ? std::move(*ran.finished.response)
                                              : refused({"canceled", "the request was withdrawn"});
    response.held = std::move(ran.finished.held);
    exchange->answer(std::move(response));
  };
  if (!order.changes) return parts_.steps.look(sandbox, sandbox.usual().now, std::move(task));
  if (!parts_.steps.change(sandbox, sandbox.usual().id, std::move(task)))
    exchange->answer(refused(too_many_wait()));
}

void Inside::read_file(const ExchangePtr& exchange, const std::string&) {
  Sandbox* sandbox = sandbox_of(exchange, parts_.store);
  if (!sandbox) return;
  auto read = read_download(exchange->request);
  if (auto* refused = std::get_if<Response>(&read)) return exchange->answer(std::move(*refused));
  obey(exchange, *sandbox, std::get<Order>(read), download_response, files_refusal);
}

Inside::ReadFiles Inside::read_files(const Request& request) {
  auto read = read_upload(request);
  if (auto* refused = std::get_if<Response>(&read)) return std::move(*refused);
  const auto& uploads = std::get<std::vector<Upload>>(read);
  std::vector<runtime::InputFile> files;
  for (size_t i = 0; i < uploads.size(); ++i)
    files.push_back({fmt::format("{}/{}", kUploads, i), std::string(uploads[i].content), false});
  return std::pair(order_of_upload(uploads), std::move(files));
}

void Inside::write_files(const ExchangePtr& exchange, const std::string&) {
  read_body(exchange, read_files, &Inside::write_read);
}

void Inside::write_read(const ExchangePtr& exchange, Sandbox& sandbox, ReadFiles read) {
  if (auto* refused = std::get_if<Response>(&read)) return exchange->answer(std::move(*refused));
  auto& [order, files] = std::get<std::pair<Order, std::vector<runtime::InputFile>>>(read);
  obey(exchange, sandbox, order, upload_response, files_refusal, std::move(files));
}

void Inside::file_call(const ExchangePtr& exchange, const std::string& method) {
  Sandbox* sandbox = sandbox_of(exchange, parts_.store);
  if (!sandbox) return;
  if (method == "WatchDir") {
    return exchange->answer(stream_error_response(
        {"unimplemented", "filesystem.Filesystem/WatchDir is not offered here"}));
  }
  auto read = read_file_call(method, exchange->request.body);
  if (const auto* error = std::get_if<RpcError>(&read))
    return exchange->answer(rpc_error_response(*error));
  obey(exchange, *sandbox, std::get<Order>(read), file_call_response, rpc_error_response);
}

void Inside::process_call(const ExchangePtr& exchange, const std::string& method) {
  if (method == "Start") return read_body(exchange, read_command, &Inside::run_command);
  Sandbox* sandbox = sandbox_of(exchange, parts_.store);
  if (!sandbox) return;
  if (method == "List") return exchange->answer({.body = commands_.list(sandbox->id)});
  if (method == "SendSignal") return kill_command(exchange, *sandbox);
  RpcError error{"unimplemented", fmt::format("process.Process/{} is not offered here", method)};
  exchange->answer(method == "Connect" ? stream_error_response(error) : rpc_error_response(error));
}

Inside::ReadCommand Inside::read_command(const Request& request) {
  const auto message = message_of(request.body);
  if (!message) return RpcError{"invalid_argument", "the body is not one message of a stream"};
  return e2b::read_command(*message);
}

void Inside::kill_command(const ExchangePtr& exchange, Sandbox& sandbox) {
  const auto read = read_signal(exchange->request.body);
  if (const auto* error = std::get_if<RpcError>(&read))
    return exchange->answer(rpc_error_response(*error));
  const auto command = commands_.find(sandbox.id, std::get<uint64_t>(read));
  if (!command)
    return exchange->answer(rpc_error_response({"not_found", "there is no process of this pid"}));
  parts_.steps.withdraw(sandbox, sandbox.usual().id, *command->exchange);
  exchange->answer({.body = "{}\n"});
}

void Inside::run_command(const ExchangePtr& exchange, Sandbox& sandbox, ReadCommand read) {
  if (const auto* error = std::get_if<RpcError>(&read))
    return exchange->answer(stream_error_response(*error));
  const auto& order = std::get<Order>(read);
  Steps::Task task = task_of(order);
  task.exchange = exchange;
  task.fill = [fill = std::move(task.fill),
               within = call_timeout(exchange->request)](runtime::Job& job) {
    fill(job);
    // What is refused to a program that it starts, that program is told.
    job.policy.refusals = runtime::Refusals::kOverlooked;
    if (within && within->count() > 0) job.limits.wall = std::min(job.limits.wall, *within);
  };
  task.words = [](const runtime::JobResult& result) {
    return Response{.body = command_events(result)};
  };
  const auto command = std::make_shared<Commands::Command>(
      Commands::Command{.order = order.what, .exchange = exchange});
  task.begun = [this, id = sandbox.id, command] {
    commands_.begin(id, command);
    Response head = stream_head();
    head.body = start_event(command->number);
    command->exchange->begin(std::move(head));
  };
  task.told = told_of_command(sandbox, command);
  settle(sandbox, sandbox.usual());
  if (!parts_.steps.change(sandbox, sandbox.usual().id, std::move(task)))
    exchange->answer(stream_error_response(too_many_wait()));
}

Steps::Told Inside::told_of_command(Sandbox& sandbox, const Commands::CommandPtr& command) {
  return [this, command, id = sandbox.id, context = sandbox.usual().id](Outcome outcome) {
    commands_.end(id, command);
    const ExchangePtr& exchange = command->exchange;
    if (!parts_.store.find(id)) return break_off(exchange);
    if (const auto* no = std::get_if<ForeignSessions::Refusal>(&outcome)) {
      const std::string end = end_of_stream(note_refusal(id, context, *no));
      exchange->begin(stream_head());
      exchange->write(end);
      return exchange->end();
    }
    auto& ran = std::get<ForeignSessions::Ran>(outcome);
    exchange->write(ran.finished.response
                        ? std::move(ran.finished.response->body)
                        : end_of_stream(RpcError{"canceled", "the command was withdrawn"}),
                    std::move(ran.finished.held));
    exchange->end();
  };
}

}  // namespace service::e2b
