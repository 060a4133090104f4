#pragma once
// NativeApi: zygo's own API (docs/http.md). Owns its parts. Loop thread only.

#include "service/apis/native/attach_api.h"
#include "service/apis/native/blobs_api.h"
#include "service/apis/native/durable_api.h"
#include "service/apis/native/facts_api.h"
#include "service/apis/native/jobs_api.h"
#include "service/apis/native/sessions/sessions_api.h"

namespace service {

class NativeApi {
 public:
  explicit NativeApi(const NativeContext& context);

  Routes routes();
  // The same, as the OpenAPI document says them.
  static Descriptions descriptions();

  void feed();  // there may be room at the dispatcher
  // Forgets the jobs whose answers are pieces; these jobs have been withdrawn.
  void drop_all() {
    jobs_.drop_all();
    sessions_.drop_all();
  }
  DurableApi& durable() { return durable_; }
  const DurableApi& durable() const { return durable_; }

 private:
  DurableApi durable_;
  JobsApi jobs_;
  SessionsApi sessions_;
  AttachApi attach_;
  BlobsApi blobs_;
  FactsApi facts_;
};

}  // namespace service
