#pragma once
// The messages of go-judge's /ws: requests with an id of the client's, their answers in order of
// completion, and cancellations. The requests themselves are those of /run (go_judge.h). Pure; the
// bytes are untrusted.

#include <optional>
#include <string>
#include <string_view>

#include "service/http/request.h"

namespace service::go_judge {

struct SocketMessage {
  std::string id;      // of a request
  std::string cancel;  // of the request that is withdrawn; then nothing else is asked for
};

// None: not a JSON object. A word that is no text is taken for absent.
std::optional<SocketMessage> read_socket_message(std::string_view text);

// `answer` is what /run would have said: results, or why there are none.
std::string socket_answer(std::string_view id, const Response& answer);
std::string socket_error(std::string_view id, std::string_view why);

}  // namespace service::go_judge
