#include "service/apis/librechat/api.h"

#include <fmt/format.h>

#include "service/apis/multipart.h"

namespace service::librechat {

namespace {

// Its server lets no other ids pass.
constexpr size_t kIdCharacters = 21;

std::string new_session() {
  const std::string id = new_job_id();
  return id.substr(id.size() - kIdCharacters);
}

FileStore::Limits with_long_ids(FileStore::Limits limits) {
  limits.id_characters = kIdCharacters;
  return limits;
}

// As the store has it: a session's file is found by the id and this name only.
std::string stored_name(const std::string& session, std::string_view name) {
  return fmt::format("{}/{}", session, name);
}

StoredFilePtr find_in(FileStore& store, const std::string& owner, const FileRef& ref) {
  StoredFilePtr stored = store.find(owner, ref.id, sys::monotonic_now());
  return stored && stored->name.starts_with(ref.session + "/") ? stored : nullptr;
}

Keep keep_in(std::shared_ptr<FileStore> store, std::string owner, std::string session) {
  return [store = std::move(store), owner = std::move(owner), session = std::move(session)](
             const std::string& name, std::string content) {
    return store->add({owner, stored_name(session, name), std::move(content)},
                      sys::monotonic_now());
  };
}

}  // namespace

LibreChatApi::LibreChatApi(const ApiContext& context, FileStore::Limits limits)
    : context_(context), store_(std::make_shared<FileStore>(with_long_ids(limits))) {}

Routes LibreChatApi::routes() {
  return {
      {Method::kPost, "/exec", Scope::kJobs,
       [this](const ExchangePtr& exchange, const std::string&) { exec(exchange); }},
      {Method::kPost, "/upload", Scope::kBlobs,
       [this](const ExchangePtr& exchange, const std::string&) { upload(exchange); }},
      {Method::kGet, "/download/{path...}", Scope::kBlobs,
       [this](const ExchangePtr& exchange, const std::string& path) { download(exchange, path); }},
      {Method::kGet, "/files/{session}", Scope::kBlobs,
       [this](const ExchangePtr& exchange, const std::string& session) {
         list(exchange, session);
       }},
  };
}

std::optional<Response> LibreChatApi::answer_without_route(const Request& request) const {
  if (request.method == Method::kDelete) return std::nullopt;  // NeMo's, of a session
  for (const std::string_view known : {"/exec/", "/files", "/sessions", "/upload/"}) {
    if (request.path.starts_with(known))
      return refusal(501, fmt::format("{} is not offered here", request.path));
  }
  return std::nullopt;
}

// Holders of tokens do not see each other's files; without tokens there is nobody to tell apart.
std::string LibreChatApi::owner_of(const Exchange& exchange) const {
  return context_.knows_clients ? exchange.client : "";
}

void LibreChatApi::exec(const ExchangePtr& exchange) {
  const std::string owner = owner_of(*exchange), session = new_session();
  const auto find = [this, &owner](const FileRef& ref) { return find_in(*store_, owner, ref); };
  const auto hold = [&exchange, before = exchange->share.bytes()](uint64_t bytes) {
    return exchange->share.resize(before + bytes);
  };
  auto read = read_exec(exchange->request.body, find, hold, context_.defaults);
  if (auto* refused = std::get_if<Response>(&read)) return exchange->answer(std::move(*refused));
  auto& execution = std::get<Execution>(read);
  auto answer = [wish = std::move(execution.wish), session,
                 keep = keep_in(store_, owner, session)](const runtime::JobResult& result) {
    return exec_response(result, wish, session, keep);
  };
  context_.jobs.run(exchange, std::move(execution.job), {std::move(answer), unavailable, kName});
}

void LibreChatApi::upload(const ExchangePtr& exchange) {
  const std::string* type = exchange->request.header("content-type");
  const auto file = type ? file_of_form(*type, exchange->request.body, "file") : std::nullopt;
  if (!file) return exchange->answer(refusal(400, "expected a form with a file named \"file\""));
  const std::string session = new_session();
  const auto id =
      keep_in(store_, owner_of(*exchange), session)(file->name, std::string(file->content));
  exchange->answer(id ? upload_response(session, *id, file->name) : unavailable(id.error().text()));
}

void LibreChatApi::list(const ExchangePtr& exchange, const std::string& session) {
  const std::string before = stored_name(session, "");
  std::vector<FileRef> files;
  for (auto& [id, name] : store_->list(owner_of(*exchange), sys::monotonic_now())) {
    if (name.starts_with(before)) files.push_back({session, id, name.substr(before.size())});
  }
  const std::string* detail = exchange->request.query_value("detail");
  exchange->answer(files_response(files, detail ? *detail : kFullDetail));
}

void LibreChatApi::download(const ExchangePtr& exchange, const std::string& path) {
  const StoredFilePtr stored = find_in(*store_, owner_of(*exchange), file_at(path));
  if (!stored) return exchange->answer(refusal(404, "there is no such file"));
  auto held = held_share(exchange->share, stored->content.size());
  if (!held) return exchange->answer(unavailable("too many bytes are held already"));
  exchange->answer(
      {.body = stored->content, .type = "application/octet-stream", .held = std::move(held)});
}

}  // namespace service::librechat
