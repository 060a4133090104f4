#pragma once
// AttachApi: jobs with live input and output over a WebSocket, in the native protocol. Loop thread
// only.

#include "service/apis/native/context.h"
#include "service/apis/native/operation.h"

namespace service {

class AttachApi {
 public:
  explicit AttachApi(const NativeContext& context) : context_(context) {}
  static const Operations<AttachApi>& operations();

 private:
  void attach(const ExchangePtr& exchange, const std::string&);

  const NativeContext context_;
};

}  // namespace service
