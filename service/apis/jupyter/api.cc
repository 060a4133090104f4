#include "service/apis/jupyter/api.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "service/http/handshake.h"

namespace service::jupyter {

namespace {

constexpr size_t kMost = 1000, kMostOfClient = 64;
constexpr size_t kLongestName = 200;
// A kernel that nobody is connected to ends when it was not used for as long.
constexpr sys::Nanoseconds kIdle = std::chrono::minutes(30);

// As a Jupyter server has them.
std::string new_kernel_id() {
  std::string id = new_job_id().substr(2, 32);
  for (const size_t at : {8u, 13u, 18u, 23u}) id.insert(at, "-");
  return id;
}

}  // namespace

JupyterApi::JupyterApi(const ApiContext& context)
    : context_(context), news_(context_.loop, [this] {
        const auto kernels = kernels_;  // one that is over takes itself out
        for (const auto& [id, kernel] : kernels) kernel->look();
      }) {}

JupyterApi::~JupyterApi() { context_.deadlines.forget(sweep_); }

Routes JupyterApi::routes() {
  const auto answer = [](int status, auto body_of) {
    return [status, body_of](const ExchangePtr& exchange, const KernelPtr& kernel) {
      exchange->answer(json_response(status, body_of(*kernel)));
    };
  };
  const auto model = [](const HostedKernel& kernel) { return json_of(kernel.model()); };
  return {
      {Method::kGet, "/api", Scope::kOpen,
       [this](const ExchangePtr& exchange, const std::string&) {
         exchange->answer(json_response(200, {{"version", context_.version}}));
       }},
      {Method::kGet, "/api/kernelspecs", Scope::kJobs,
       [this](const ExchangePtr& exchange, const std::string&) { list_specs(exchange, ""); }},
      {Method::kGet, "/api/kernelspecs/{name}", Scope::kJobs,
       [this](const ExchangePtr& exchange, const std::string& name) {
         list_specs(exchange, name);
       }},
      {Method::kGet, "/api/kernels", Scope::kJobs,
       [this](const ExchangePtr& exchange, const std::string&) { list(exchange); }},
      {Method::kPost, "/api/kernels", Scope::kJobs,
       [this](const ExchangePtr& exchange, const std::string&) { start(exchange); }},
      {Method::kGet, "/api/kernels/{id}", Scope::kJobs, with_kernel(answer(200, model))},
      {Method::kDelete, "/api/kernels/{id}", Scope::kJobs,
       with_kernel([this](const ExchangePtr& exchange, const KernelPtr& kernel) {
         end(kernel->model().id);
         exchange->answer({.status = 204});
       })},
      {Method::kPost, "/api/kernels/{id}/interrupt", Scope::kJobs,
       with_kernel([](const ExchangePtr& exchange, const KernelPtr& kernel) {
         kernel->interrupt();
         exchange->answer({.status = 204});
       })},
      {Method::kPost, "/api/kernels/{id}/restart", Scope::kJobs,
       with_kernel([this](const ExchangePtr& exchange, const KernelPtr& kernel) {
         restart(exchange, kernel);
       })},
      {Method::kGet, "/api/kernels/{id}/channels", Scope::kJobs,
       with_kernel([this](const ExchangePtr& exchange, const KernelPtr& kernel) {
         attach(exchange, kernel);
       })},
  };
}

Handler JupyterApi::with_kernel(Use use) {
  return [this, use = std::move(use)](const ExchangePtr& exchange, const std::string& id) {
    const KernelPtr kernel = find(exchange, id);
    if (!kernel) return exchange->answer(refusal(404, "Kernel does not exist: " + id));
    use(exchange, kernel);
  };
}

JupyterApi::KernelPtr JupyterApi::find(const ExchangePtr& exchange, const std::string& id) const {
  const auto found = kernels_.find(id);
  const bool is_own = found != kernels_.end() && found->second->client() == exchange->client;
  return is_own ? found->second : nullptr;
}

void JupyterApi::list_specs(const ExchangePtr& exchange, const std::string& name) {
  context_.runtimes.get([exchange, name](const InstalledRuntimes::List& list) {
    const nlohmann::json specs = specs_of(list.records);
    if (name.empty()) return exchange->answer(json_response(200, specs));
    const auto found = specs["kernelspecs"].find(name);
    exchange->answer(found != specs["kernelspecs"].end()
                         ? json_response(200, *found)
                         : refusal(404, "Kernel spec not found: " + name));
  });
}

void JupyterApi::list(const ExchangePtr& exchange) const {
  nlohmann::json models = nlohmann::json::array();
  for (const auto& [id, kernel] : kernels_) {
    if (kernel->client() == exchange->client) models.push_back(json_of(kernel->model()));
  }
  exchange->answer(json_response(200, models));
}

void JupyterApi::start(const ExchangePtr& exchange) {
  if (!context_.foreign_sessions.keeps_nodes())
    return exchange->answer(refusal(501, "a router has no kernels; they stay with their service"));
  if (context_.jobs.is_ending()) return exchange->answer(refusal(503, "the service is ending"));
  auto read = read_start(exchange->request.body);
  if (auto* refused = std::get_if<Response>(&read)) return exchange->answer(std::move(*refused));
  const auto& request = std::get<StartRequest>(read);
  auto beginning = beginning_of(request, context_.defaults);
  if (!beginning)
    return exchange->answer(refusal(400, "name: \"" + request.spec + "\" is no kernel here"));
  if (!make_room(exchange->client))
    return exchange->answer(refusal(429, "too many kernels are in use; end one of them"));
  const std::string id = new_kernel_id();
  HostedKernel::Parts parts{
      .id = id,
      .name = request.spec,
      .client = exchange->client,
      .cells = {context_.foreign_sessions, context_.dispatcher, context_.loop, exchange->client,
                kName, *std::move(beginning), [this] { news_.wake(); }},
      .version = context_.version,
      .held = context_.held,
      .over = [this](const std::string& which) { end(which); },
      .rested = context_.rested};
  const auto kernel = std::make_shared<HostedKernel>(std::move(parts));
  kernels_[id] = kernel;
  begin(exchange, kernel, id);
  arm();
}

void JupyterApi::begin(const ExchangePtr& exchange, const KernelPtr& kernel,
                       const std::string& id) {
  exchange->when_gone([this, id] { end(id); });  // nobody knows of it
  kernel->start([exchange, weak = std::weak_ptr(kernel)](const std::string& why_not) {
    if (!exchange->open()) return;
    const auto there = weak.lock();
    if (!why_not.empty() || !there)
      return exchange->answer(refusal(500, why_not.empty() ? "the kernel was ended" : why_not));
    const KernelModel model = there->model();
    Response response = json_response(201, json_of(model));
    response.headers.emplace_back("Location", "/api/kernels/" + model.id);
    exchange->answer(std::move(response));
  });
}

void JupyterApi::restart(const ExchangePtr& exchange, const KernelPtr& kernel) {
  kernel->start([exchange, weak = std::weak_ptr(kernel)](const std::string& why_not) {
    const auto there = weak.lock();
    exchange->answer(why_not.empty() && there ? json_response(200, json_of(there->model()))
                                              : refusal(500, why_not));
  });
}

void JupyterApi::attach(const ExchangePtr& exchange, const KernelPtr& kernel) {
  // A client that has shown a token is no page that a browser lets loose on this host.
  if (exchange->peer.is_unix && !context_.guard.is_welcome(exchange->request))
    return exchange->answer(refusal(403, "web pages may not speak to this"));
  auto shaken = shake_hands(exchange->request, kBinary);
  if (auto* refused = std::get_if<Response>(&shaken)) return exchange->answer(std::move(*refused));
  const auto& headers = std::get<Headers>(shaken);
  // A client that comes again with its session gets what it has missed.
  const std::string* named = exchange->request.query_value("session_id");
  const bool is_named = named && !named->empty() && named->size() <= kLongestName;
  std::string session = is_named ? "session " + *named : std::to_string(++last_socket_);
  const std::weak_ptr<HostedKernel> weak = kernel;
  KernelSocket::Parts parts{
      .id = std::move(session),
      .is_binary =
          std::ranges::any_of(headers, [](const auto& header) { return header.second == kBinary; }),
      .is_named = is_named,
      .deadlines = context_.deadlines,
      .held = context_.held,
      .heard =
          [weak](const KernelSocket& socket, ChannelMessage said) {
            if (const auto there = weak.lock()) there->hear(socket, std::move(said));
          },
      .room =
          [weak] {
            if (const auto there = weak.lock()) there->look();
          },
      .over =
          [this, weak](const KernelSocket* socket) {
            const auto there = weak.lock();
            if (!there) return;
            there->detach(socket);
            arm();
          }};
  auto socket = std::make_shared<KernelSocket>(exchange, std::move(parts), context_.websocket);
  if (!kernel->attach(socket))
    return exchange->answer(refusal(429, "this kernel has as many sockets as it may"));
  socket->open(headers, kernel->take_missed(*socket));
}

// A new kernel takes the place of the one that its client, or else anybody, has not used for
// longest. False: all of them are in use.
bool JupyterApi::make_room(const std::string& client) {
  const auto is_own = [&client](const auto& each) { return each.second->client() == client; };
  const bool is_own_fault =
      static_cast<size_t>(std::ranges::count_if(kernels_, is_own)) >= kMostOfClient;
  if (!is_own_fault && kernels_.size() < kMost) return true;
  const HostedKernel* oldest = nullptr;
  for (const auto& each : kernels_) {
    const HostedKernel& kernel = *each.second;
    const bool may_go = !kernel.is_busy() && !kernel.is_attached();
    if (may_go && (!is_own_fault || is_own(each)) && (!oldest || kernel.used() < oldest->used()))
      oldest = &kernel;
  }
  if (!oldest) return false;
  end(oldest->model().id);
  return true;
}

void JupyterApi::end(const std::string& id) {
  const auto found = kernels_.find(id);
  if (found == kernels_.end()) return;
  const KernelPtr kernel = std::move(found->second);
  kernels_.erase(found);
  kernel->end(kCloseNormal, "the kernel has ended");
  arm();
}

void JupyterApi::end_idle() {
  const sys::Nanoseconds now = sys::monotonic_now();
  const auto kernels = kernels_;
  for (const auto& [id, kernel] : kernels) {
    if (!kernel->is_busy() && !kernel->is_attached() && kernel->used() + kIdle <= now) end(id);
  }
}

void JupyterApi::arm() {
  context_.deadlines.forget(std::exchange(sweep_, 0));
  std::optional<sys::Nanoseconds> next;
  for (const auto& [id, kernel] : kernels_) {
    if (kernel->is_attached()) continue;
    // One that is busy is looked at again when it may be idle.
    const sys::Nanoseconds from = kernel->is_busy() ? sys::monotonic_now() : kernel->used();
    if (!next || from + kIdle < *next) next = from + kIdle;
  }
  if (!next) return;
  sweep_ = context_.deadlines.at(*next, [this] {
    sweep_ = 0;
    end_idle();
    arm();
  });
}

bool JupyterApi::is_busy() const {
  return std::ranges::any_of(kernels_, [](const auto& each) { return each.second->is_busy(); });
}

void JupyterApi::close_rest() {
  const auto kernels = kernels_;
  for (const auto& [id, kernel] : kernels) kernel->end(kCloseGoingAway, "the service is ending");
}

}  // namespace service::jupyter
