#pragma once
// The operator's options of Judge0's API.

#include <string_view>

#include "service/apis/judge0/store.h"
#include "service/callbacks.h"

namespace service::judge0 {

inline constexpr std::string_view kApiName = "judge0";

struct Options {
  SubmissionStore::Limits store;
  CallbacksMaker callbacks = {};  // empty: there are none
};

}  // namespace service::judge0
