#include "service/apis/native/blobs_api.h"

#include "images/sha256.h"
#include "service/admission/refusals.h"

namespace service {

namespace {

constexpr Parameter kTenant{"tenant", "query",
                            "The tenant, from a client that may name one (--tenant-by field)."};

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

Description about(Method method, std::string_view summary, std::string_view takes,
                  std::string_view gives, std::vector<int> statuses) {
  return {.method = method,
          .pattern = "/v1/blobs/{digest}",
          .scope = Scope::kBlobs,
          .summary = summary,
          .takes = takes,
          .gives = gives,
          .statuses = std::move(statuses),
          .parameters = {kTenant}};
}

}  // namespace

BlobsApi::BlobsApi(const NativeContext& context)
    : context_(context),
      blobs_(context.options.blobs.empty()
                 ? std::nullopt
                 : std::optional<runtime::BlobStore>(context.options.blobs)) {}

const Operations<BlobsApi>& BlobsApi::operations() {
  static const Operations<BlobsApi> all = {
      {about(Method::kPut, "Keep contents that jobs may name.", kBytes, kJson, {201, 400}),
       &BlobsApi::put},
      {about(Method::kGet, "The contents.", "", kBytes, {200, 400, 404}), &BlobsApi::get},
      {about(Method::kHead, "Is it there?", "", kBytes, {200, 400, 404}), &BlobsApi::get},
  };
  return all;
}

// The blobs of the client's tenant, or of the one that a trusted client names. Answers the exchange
// itself, and returns nothing, where there are none for it.
std::optional<runtime::BlobStore> BlobsApi::blobs_for(Exchange& exchange) const {
  if (!blobs_) {
    exchange.answer(error_response(501, "blobs", "there is no store of blobs"));
    return std::nullopt;
  }
  const std::string* asked = exchange.request.query_value("tenant");
  const auto tenant = context_.tenancy.tenant_of(exchange.client, asked ? *asked : "");
  if (tenant) return blobs_->of(*tenant);
  exchange.answer(not_its_tenant(tenant.error()));
  return std::nullopt;
}

void BlobsApi::put(const ExchangePtr& exchange, const std::string& digest) {
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
  runtime::run_aside(context_.loop, work,
                     [exchange, response] { exchange->answer(std::move(*response)); });
}

void BlobsApi::get(const ExchangePtr& exchange, const std::string& digest) {
  if (!images::is_sha256(digest)) return exchange->answer(no_digest());
  const std::optional<runtime::BlobStore> blobs = blobs_for(*exchange);
  if (!blobs) return;
  auto response = std::make_shared<Response>();
  const size_t most = context_.options.http.limits.parser.body;
  if (!exchange->share.resize(most))
    return exchange->answer(busy_response(503, "memory", "too many bytes are held already", 1));
  auto work = [digest, response, most, store = *blobs] {
    *response = blob_response(store, digest, most);
  };
  runtime::run_aside(context_.loop, work, [exchange, response] {
    exchange->share.resize(0);
    response->held = held_share(exchange->share, response->body.size());
    exchange->answer(std::move(*response));
  });
}

}  // namespace service
