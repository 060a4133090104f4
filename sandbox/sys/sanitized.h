#pragma once
// Tells whether this build is sanitized. Sanitizers trace their own process, and need rights that a
// hardened process gives up.

namespace sys {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__clang__)  // which has no such macros
inline constexpr bool kSanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace sys
