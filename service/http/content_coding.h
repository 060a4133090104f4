#pragma once
// Content codings (RFC 9110, 8.4 and 12.5.3): that of a request's body, and those that its client
// accepts. Pure; the headers are untrusted.

#include <string_view>

#include "service/http/request.h"

namespace service {

enum class Coding : uint8_t { kIdentity, kGzip, kUnknown };

// Reads all Content-Encoding headers of a request. More than one coding is kUnknown.
Coding coding_of_body(const Headers& headers);

// Does the client take gzip, and like it no less than identity? Without Accept-Encoding: no.
bool accepts_gzip(const Headers& headers);

// Is this an answer that gets shorter: text of a kind that we give, and not a few bytes?
bool is_worth_deflating(const Response& response);

}  // namespace service
