#pragma once
// The Connect protocol as E2B's SDKs speak it with envd: messages are JSON. A unary call is a plain
// request; the call of a stream is one message in an envelope, its answer a stream of envelopes,
// of which the last ends it. Pure; bodies are untrusted.

#include <optional>
#include <string>
#include <string_view>

#include "sandbox/sys/units.h"
#include "service/http/request.h"

namespace service::e2b {

// A failure in Connect's words: "not_found", "unimplemented", ...
struct RpcError {
  std::string_view code;
  std::string message;
  int status = 0;  // where the call is plain HTTP; 0: that of the code
};

// The message in the body of a call of a stream. Nothing: it is not one whole envelope, or
// compressed, or there is more behind it.
std::optional<std::string_view> message_of(std::string_view body);

std::string envelope(std::string_view message);
// The envelope that ends a stream.
std::string end_of_stream(const std::optional<RpcError>& error);

// The answer to a unary call that fails, and to one of a stream.
Response rpc_error_response(const RpcError& error);
Response stream_error_response(const RpcError& error);
// The head of a stream.
Response stream_head();

// The time that the caller gives the call; nothing: as long as it takes.
std::optional<sys::Milliseconds> call_timeout(const Request& request);

}  // namespace service::e2b
