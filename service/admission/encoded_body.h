#pragma once
// Inflates the body of a request that came in a content coding. Runs between admission and the
// handler. Loop thread; long bodies are inflated on another.

#include <cstddef>
#include <functional>

#include "service/admission/readers.h"
#include "service/http/exchange.h"

namespace service {

// Calls `then` when the body is there as it was before it was coded: at once where it is short or
// not coded, never when the client has gone. Answers itself, and does not call `then`, what cannot
// be inflated: 400, 413 for more than `most` bytes, 415 for another coding than gzip, and 503 when
// the client has no room for so many bytes.
void decode_body(const ExchangePtr& exchange, Readers& readers, size_t most,
                 std::function<void()> then);

}  // namespace service
