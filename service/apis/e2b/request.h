#pragma once
// Requests of E2B's API, as its SDKs send them, read. What is wrong or not offered is the answer
// that says so, in E2B's form. Pure; bodies are untrusted.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sandbox/sys/units.h"
#include "service/http/request.h"

namespace service::e2b {

inline constexpr sys::Milliseconds kUsualLife{300'000};
inline constexpr sys::Milliseconds kLongestLife{86'400'000};
inline constexpr unsigned kMostForks = 100;

// {"code", "message"}: how E2B says that a request about sandboxes failed.
Response refusal(int status, std::string_view message);
// The same, to be sent again later; 0 seconds: that is of no use.
Response with_retry(Response response, unsigned seconds);

struct Creation {
  std::string template_id;  // empty: none is named
  sys::Milliseconds life = kUsualLife;
  std::vector<std::pair<std::string, std::string>> env;
  nlohmann::json metadata = nlohmann::json::object();  // of texts
  bool pauses = false;                                 // at the end of its life
};
std::variant<Creation, Response> read_create(std::string_view body);

// {"timeout": SECONDS}; nothing: it says none. A wish to begin without the memory is refused.
std::variant<std::optional<sys::Milliseconds>, Response> read_life(std::string_view body);
// The answer to a pause that is not to keep the memory.
std::optional<Response> refuse_pause(std::string_view body);

struct Forking {
  unsigned count = 1;
  std::optional<sys::Milliseconds> life;
};
std::variant<Forking, Response> read_fork(std::string_view body);

// {"name": ".."}; empty: none.
std::variant<std::string, Response> read_snapshot(std::string_view body);

struct Execution {
  std::string code;
  std::string context;   // empty: the usual one
  std::string language;  // as the client says it; empty: python
  std::vector<std::pair<std::string, std::string>> env;
};
std::variant<Execution, Response> read_execute(std::string_view body);

nlohmann::json texts_of(const std::vector<std::pair<std::string, std::string>>& pairs);

struct NewContext {
  std::string language, cwd;  // empty: the usual ones
};
std::variant<NewContext, Response> read_context(std::string_view body);

// Whether code of this language can be run here; python is all there is.
bool is_offered(std::string_view language);
std::string why_not_offered(std::string_view language);

// The sandbox that a request to one names, in its header or in its host's name
// ("49999-ID.example"); empty: it names none.
std::string sandbox_named(const Request& request);
// Whether it brings this secret of the sandbox.
bool brings_secret(const Request& request, std::string_view secret);

}  // namespace service::e2b
