#pragma once
// What the parts of E2B's API share. Loop thread only.

#include <functional>
#include <string>
#include <string_view>

#include "service/apis/api.h"
#include "service/apis/e2b/envd.h"
#include "service/apis/e2b/steps.h"
#include "service/apis/e2b/store.h"

namespace service::e2b {

inline constexpr std::string_view kName = "e2b";

struct Parts {
  const ApiContext& context;
  SandboxStore& store;
  Steps& steps;
};

// A state of a context is gone, and why. If it is the one that the context is in, that is not there
// any more, nor is its sandbox if that was the usual one. False: it has another.
using Lost = std::function<bool(const std::string& sandbox, const std::string& context,
                                const std::string& why)>;

// One that cannot be guessed.
inline std::string new_id(char kind) {
  constexpr size_t kCharacters = 20;
  return kind + new_job_id().substr(2, kCharacters);
}

// E2B's own templates are the service's usual Python.
std::string template_of(const std::string& asked, const runtime::JobDefaults& defaults);
// The first step of a session of a sandbox, as JSON.
struct Beginning {
  std::string template_name;  // zygo's
  std::string word;           // the sandbox's
  nlohmann::json env;
};
std::string fields_of(const Beginning& beginning, const runtime::JobDefaults& defaults);

// A step that obeys this order; who waits for it, and what it is told, is left open.
Steps::Task task_of(const Order& order);

// The state is not there any more.
bool is_gone(const ForeignSessions::Refusal& refusal);
// In Connect's words.
RpcError error_of(const ForeignSessions::Refusal& refusal);

// An error in one sentence, as the requests to a sandbox have them.
Response plain(int status, std::string text);

// The sandbox that a request goes to, if it may. Its client is then the request's. Null: it is
// answered.
Sandbox* sandbox_of(const ExchangePtr& exchange, SandboxStore& store);
// Null: it is answered.
Context* context_of(const ExchangePtr& exchange, Sandbox& sandbox, const std::string& id);

}  // namespace service::e2b
