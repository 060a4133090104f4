#pragma once
// BlobsApi: contents that jobs may name by their digests. Loop thread only; disks are read and
// written on other threads.

#include <optional>
#include <string>

#include "runtime/builds/blobs.h"
#include "service/apis/native/context.h"
#include "service/apis/native/operation.h"

namespace service {

class BlobsApi {
 public:
  explicit BlobsApi(const NativeContext& context);
  static const Operations<BlobsApi>& operations();

 private:
  void put(const ExchangePtr& exchange, const std::string& digest);
  void get(const ExchangePtr& exchange, const std::string& digest);
  std::optional<runtime::BlobStore> blobs_for(Exchange& exchange) const;

  const NativeContext context_;
  const std::optional<runtime::BlobStore> blobs_;  // none: there is no store
};

}  // namespace service
