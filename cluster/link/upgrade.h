#pragma once
// The opening handshake of a WebSocket (RFC 6455, 4.1), the client's side: what a pilot asks a
// router, and what the answer means. Pure; the answer is untrusted.

#include <string>
#include <string_view>

#include "cluster/link/join_url.h"
#include "sandbox/sys/result.h"

namespace cluster {

inline constexpr size_t kLongestAnswerHead = size_t{16} << 10;
inline constexpr size_t kLongestAnswerBody = size_t{4} << 10;  // of a refusal, that is read

// 16 bytes that nobody can foretell, in base64.
std::string new_upgrade_key();

// An error: the token holds what a header may not.
sys::Result<std::string> upgrade_request(const JoinUrl& to, std::string_view token,
                                         std::string_view key);

struct UpgradeAnswer {
  enum class State : uint8_t { kUnfinished, kOpen, kRefused };
  State state = State::kUnfinished;
  size_t head = 0;  // kOpen: the bytes behind these are frames
  std::string why;  // kRefused: one line of printable text
};
// `bytes` is what has come so far, and `is_all` that there will be no more: it is finished then.
UpgradeAnswer read_upgrade_answer(std::string_view bytes, bool is_all, std::string_view key);

}  // namespace cluster
