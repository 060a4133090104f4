// What the service tells about itself, and blobs.

#include <nlohmann/json.hpp>

#include "images/sha256.h"
#include "service/admission/refusals.h"
#include "service/service.h"

namespace service {

namespace {

using nlohmann::ordered_json;

ordered_json names_of(sandbox::Layers layers) {
  ordered_json names = ordered_json::array();
  for (unsigned i = 0; i < sandbox::kLayerCount; ++i) {
    const auto layer = static_cast<sandbox::Layer>(i);
    if (layers.has(layer)) names.push_back(sandbox::name_of(layer));
  }
  return names;
}

// The contents, if they are no larger than the body of a request may be.
Response blob_response(const runtime::BlobStore& store, const std::string& digest, size_t most) {
  const sys::Result<uint64_t> size = store.size_of(digest);
  if (size && *size > most)
    return error_response(413, "blob", "the blob is larger than a body may be (--max-body)");
  sys::Result<std::string> bytes = store.get(digest);
  if (!bytes) return error_response(404, "no_blob", bytes.error().text());
  return {.body = std::move(bytes).value(), .type = "application/octet-stream"};
}

Response no_digest() {
  return error_response(400, "digest", "expected sha256: and 64 lower-case hexadecimal digits");
}

}  // namespace

// Asking every tool for its version takes a while: once, and not in the loop.
void Service::with_runtimes(std::function<void(const std::string&)> use) {
  if (!runtimes_.empty()) return use(runtimes_);
  waiting_for_runtimes_.push_back(std::move(use));
  if (std::exchange(fetching_runtimes_, true)) return;
  auto told = std::make_shared<std::pair<std::string, bool>>();
  runtime::run_aside(
      loop_, [told, ask = facts_.runtimes] { *told = ask(); },
      [this, told] {
        const auto& [text, is_whole] = *told;
        // Where a tool could not be started the next one who asks gets another answer.
        if (is_whole) runtimes_ = text;
        fetching_runtimes_ = false;
        for (const auto& waiting : std::exchange(waiting_for_runtimes_, {})) waiting(text);
      });
}

void Service::get_runtimes(const ExchangePtr& exchange) {
  with_runtimes([exchange](const std::string& json) { exchange->answer({.body = json}); });
}

void Service::get_info(const ExchangePtr& exchange) {
  const runtime::Engine::Standing standing = engine_.standing();
  const ordered_json info = {{"version", options_.version},
                             {"level", sandbox::name_of(standing.level)},
                             {"enforced", names_of(standing.layers)},
                             {"workers", engine_.workers()},
                             {"parts", true},  // batches may have raw parts
                             {"tenant_by", name_of(tenancy_.by())},
                             {"template", options_.defaults.job.template_name},
                             {"durable", durable_ != nullptr},
                             {"limits",
                              {{"queue", options_.queue},
                               {"body_bytes", options_.http.limits.parser.body},
                               {"held_bytes", options_.held},
                               {"connections", options_.http.connections},
                               {"kept_ms", options_.kept.keep.count()}}}};
  exchange->answer({.body = info.dump(2) + "\n"});
}

// Those of the client's tenant, or of the one that a trusted client names. Answers itself, and says
// nothing, where there are none for it.
std::optional<runtime::BlobStore> Service::blobs_for(Exchange& exchange) const {
  if (!blobs_) {
    exchange.answer(error_response(501, "blobs", "there is no store of blobs"));
    return std::nullopt;
  }
  const std::string* asked = exchange.request.query_value("tenant");
  const auto tenant = tenancy_.tenant_of(exchange.client, asked ? *asked : "");
  if (tenant) return blobs_->of(*tenant);
  exchange.answer(not_its_tenant(tenant.error()));
  return std::nullopt;
}

void Service::put_blob(const ExchangePtr& exchange, const std::string& digest) {
  if (!images::is_sha256(digest)) return exchange->answer(no_digest());
  const std::optional<runtime::BlobStore> blobs = blobs_for(*exchange);
  if (!blobs) return;
  auto response = std::make_shared<Response>();
  auto work = [exchange, digest, response, store = *blobs] {
    const std::string& bytes = exchange->request.body;
    if (digest != "sha256:" + images::sha256_of(bytes)) {
      *response = error_response(400, "digest", "the body has another digest");
      return;
    }
    const sys::Result<std::string> kept = store.put(bytes);
    *response = kept ? Response{.status = 201, .body = "{\"digest\":\"" + digest + "\"}\n"}
                     : error_response(500, "blobs", kept.error().text());
  };
  runtime::run_aside(loop_, work, [exchange, response] { exchange->answer(std::move(*response)); });
}

void Service::get_blob(const ExchangePtr& exchange, const std::string& digest) {
  if (!images::is_sha256(digest)) return exchange->answer(no_digest());
  const std::optional<runtime::BlobStore> blobs = blobs_for(*exchange);
  if (!blobs) return;
  auto response = std::make_shared<Response>();
  const size_t most = options_.http.limits.parser.body;
  if (!exchange->share.resize(most))
    return exchange->answer(busy_response(503, "memory", "too many bytes are held already", 1));
  auto work = [digest, response, most, store = *blobs] {
    *response = blob_response(store, digest, most);
  };
  runtime::run_aside(loop_, work, [exchange, response] {
    exchange->share.resize(0);
    response->held = held_share(exchange->share, response->body.size());
    exchange->answer(std::move(*response));
  });
}

}  // namespace service
