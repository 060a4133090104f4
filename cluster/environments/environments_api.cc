#include "cluster/environments/environments_api.h"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "service/apis/native/operation.h"

namespace cluster {

using service::ExchangePtr;

namespace {

constexpr size_t kPiece = size_t{256} << 10;

const service::Description kList{
    .method = service::Method::kGet,
    .pattern = "/v1/environments",
    .scope = service::Scope::kPilot,
    .summary = "The packed environments that a pilot may have.",
    .takes = "",
    .gives = service::kJson,
    .statuses = {200},
};

const service::Description kGet{
    .method = service::Method::kGet,
    .pattern = "/v1/environments/{digest}",
    .scope = service::Scope::kPilot,
    .summary = "One of them: the file.",
    .takes = "",
    .gives = service::kBytes,
    .statuses = {200, 404},
};

// One file on its way: the next piece is read when its client has taken the last ones.
class FileStream : public std::enable_shared_from_this<FileStream> {
 public:
  FileStream(ExchangePtr exchange, runtime::Loop& loop, const Offered& offered)
      : exchange_(std::move(exchange)), loop_(loop), offered_(offered) {}

  void start() {
    exchange_->begin({.type = std::string(service::kBytes)});
    exchange_->when_room([self = shared_from_this()] { self->feed(); });
    exchange_->when_gone([self = shared_from_this()] { self->exchange_->when_room(nullptr); });
    feed();
  }

 private:
  void feed() {
    if (reading_ || !exchange_->open() || !exchange_->has_room()) return;
    reading_ = true;
    auto piece = std::make_shared<std::string>(kPiece, '\0');
    auto work = [piece, file = offered_.file.get(), at = sent_] {
      const ssize_t n = ::pread(file, piece->data(), piece->size(), static_cast<off_t>(at));
      piece->resize(static_cast<size_t>(std::max<ssize_t>(n, 0)));
    };
    runtime::run_aside(loop_, std::move(work),
                       [self = shared_from_this(), piece] { self->send(std::move(*piece)); });
  }

  // A file that has become shorter, or cannot be read, breaks off.
  void send(std::string piece) {
    reading_ = false;
    if (!exchange_->open()) return;
    sent_ += piece.size();
    if (piece.empty() && sent_ < offered_.about.bytes) return exchange_->abort();
    exchange_->write(std::move(piece));
    if (sent_ < offered_.about.bytes) return feed();
    exchange_->when_room(nullptr);
    exchange_->when_gone(nullptr);
    exchange_->end();
  }

  const ExchangePtr exchange_;
  runtime::Loop& loop_;
  const Offered& offered_;
  uint64_t sent_ = 0;
  bool reading_ = false;
};

}  // namespace

service::Routes EnvironmentsApi::routes() {
  return {
      {kList.method, kList.pattern, kList.scope,
       [this](const ExchangePtr& exchange, auto&) { list(exchange); }, kList.probe},
      {kGet.method, kGet.pattern, kGet.scope,
       [this](const ExchangePtr& exchange, auto& digest) { get(exchange, digest); }, kGet.probe}};
}

void EnvironmentsApi::describe_to(service::Described& into) const {
  into.operations.insert(into.operations.end(), {kList, kGet});
}

void EnvironmentsApi::list(const ExchangePtr& exchange) const {
  exchange->answer({.body = environments_json(offered_) + "\n"});
}

void EnvironmentsApi::get(const ExchangePtr& exchange, const std::string& digest) const {
  const auto found = std::ranges::find_if(
      offered_, [&](const Offered& each) { return each.about.digest == digest; });
  if (found == offered_.end()) {
    return exchange->answer(
        service::error_response(404, "environment", "there is no such environment"));
  }
  std::make_shared<FileStream>(exchange, context_.loop, *found)->start();
}

}  // namespace cluster
