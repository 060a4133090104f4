#include "runtime/answer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "sandbox/sys/file.h"

namespace runtime {

namespace {
// The one page that stays in place between jobs: most answers fit, and to zero it is cheaper than
// to have it anew.
constexpr size_t kKept = 4096;
static_assert(sizeof(shim::AnswerRegion) < kKept);
}  // namespace

SharedAnswer& SharedAnswer::operator=(SharedAnswer&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(at_, other.at_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

SharedAnswer::~SharedAnswer() {
  if (at_) ::munmap(at_, bytes_);
}

sys::Result<SharedAnswer> SharedAnswer::create(size_t payload_capacity) {
  SharedAnswer answer;
  answer.bytes_ = (sizeof(shim::AnswerRegion) + payload_capacity + 4095) & ~size_t{4095};
  answer.fd_ = TRY(sys::memfd("zygo-answer", answer.bytes_));
  // The size can never change, so reading the mapping cannot fault.
  if (::fcntl(answer.fd_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
    return sys::Error::from_errno("seal answer");
  }
  void* at = ::mmap(nullptr, answer.bytes_, PROT_READ, MAP_SHARED, answer.fd_.get(), 0);
  if (at == MAP_FAILED) return sys::Error::from_errno("map answer");
  answer.at_ = at;
  return answer;
}

std::optional<SharedAnswer::Answer> SharedAnswer::take(uint64_t nonce, size_t most) const {
  shim::AnswerHeader header;
  std::memcpy(&header, &region()->header, sizeof header);
  if (header.nonce != nonce) return std::nullopt;
  if (header.size > most || header.size > bytes_ - sizeof(shim::AnswerRegion)) return std::nullopt;
  const char* payload = static_cast<const char*>(at_) + sizeof(shim::AnswerRegion);
  return Answer{header.kind, std::string(payload, header.size)};
}

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

bool SharedAnswer::trim() const {
  static constexpr std::array<char, kKept> kZeros{};
  if (::pwrite(fd_.get(), kZeros.data(), kKept, 0) != static_cast<ssize_t>(kKept)) return false;
  struct stat info {};
  if (::fstat(fd_.get(), &info) < 0) return false;
  if (static_cast<size_t>(info.st_blocks) * 512 <= kKept) return true;
  return ::fallocate(fd_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, kKept,
                     static_cast<off_t>(bytes_ - kKept)) == 0;
}

}  // namespace runtime
