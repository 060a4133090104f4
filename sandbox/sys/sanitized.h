#pragma once
// Tells whether this build is sanitized. Sanitizers trace their own process, and need rights that a
// hardened process gives up.

namespace sys {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace sys
