#pragma once
// LibreChatApi: LibreChat's code API over the service. Owns the files that its clients keep.

#include <memory>

#include "service/apis/api.h"
#include "service/apis/file_store.h"
#include "service/apis/librechat/librechat.h"

namespace service::librechat {

class LibreChatApi : public Api {
 public:
  static constexpr std::string_view kName = "librechat";
  LibreChatApi(const ApiContext& context, FileStore::Limits limits);

  Routes routes() override;
  TokenPlaces token_places() const override { return {.header = "x-api-key"}; }
  std::optional<Response> answer_without_route(const Request& request) const override;

 private:
  void exec(const ExchangePtr& exchange);
  void upload(const ExchangePtr& exchange);
  void download(const ExchangePtr& exchange, const std::string& path);
  void list(const ExchangePtr& exchange, const std::string& session);
  std::string owner_of(const Exchange& exchange) const;

  const ApiContext context_;
  const std::shared_ptr<FileStore> store_;  // the callbacks of jobs share it
};

}  // namespace service::librechat
