#include "runtime/cell/memory/answer.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "sandbox/sys/huge_pages.h"

namespace runtime {

SharedAnswer& SharedAnswer::operator=(SharedAnswer&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(at_, other.at_);
  return *this;
}

SharedAnswer::~SharedAnswer() {
  if (at_) ::munmap(at_, bytes());
}

sys::Result<SharedAnswer> SharedAnswer::create(size_t payload_capacity) {
  SharedAnswer answer;
  answer.memory_ =
      TRY(SharedMemory::create("zygo-answer", sizeof(shim::AnswerRegion) + payload_capacity));
  // The size can never change, so reading the mapping cannot fault.
  void* at = ::mmap(nullptr, answer.bytes(), PROT_READ, MAP_SHARED, answer.fd(), 0);
  if (at == MAP_FAILED) return sys::Error::from_errno("map answer");
  answer.at_ = at;
  return answer;
}

std::optional<SharedAnswer::Answer> SharedAnswer::take(uint64_t nonce, size_t most) const {
  shim::AnswerHeader header;
  std::memcpy(&header, &region()->header, sizeof header);
  if (header.nonce != nonce) return std::nullopt;
  if (header.size > most || header.size > bytes() - sizeof(shim::AnswerRegion)) return std::nullopt;
  const char* payload = static_cast<const char*>(at_) + sizeof(shim::AnswerRegion);
  Answer answer{header.kind, {}};
  sys::reserve_huge(answer.payload, header.size);
  answer.payload.assign(payload, header.size);
  return answer;
}

size_t SharedAnswer::size() const { return region()->header.size; }

SharedAnswer::Note SharedAnswer::note() const {
  shim::AuditNote raw;
  std::memcpy(&raw, &region()->note, sizeof raw);
  if (raw.count == 0) return {};
  std::string event(raw.event, ::strnlen(raw.event, sizeof raw.event));
  for (char& c : event) {
    if (c < 0x20 || c > 0x7e) c = '?';
  }
  return {raw.count, std::max(raw.line, -1), std::move(event)};
}

}  // namespace runtime
