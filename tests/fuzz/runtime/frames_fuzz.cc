// Frames of a hostile template or cell, and the answer region that its jobs write: the first byte
// says who speaks, the second how many descriptors come along.

#include <unistd.h>

#include <string>

#include "runtime/cell/memory/answer.h"
#include "runtime/cell/wire_decode.h"
#include "tests/fuzz/input.h"

namespace {

constexpr sys::Nanoseconds kNow = std::chrono::hours(1000);

// The daemon's arithmetic with these must be defined: sums and differences are taken here.
void use(const shim::JobDone& done) {
  const int64_t begin = done.forked_at_ns, end = done.ended_at_ns;
  VERIFY(begin >= 0 && end <= kNow.count() && (end == 0 || end >= begin));
  VERIFY(done.confined_at_ns == 0 || end - done.confined_at_ns >= 0);
  VERIFY(done.max_rss_kb * 1024 >= 0 && done.cpu_ns + kNow.count() >= kNow.count());
  VERIFY(128 + done.code > 0);
  VERIFY(std::string(shim::name_of(done.failure.step)) != "unknown");
}

void from_cell(std::span<const std::byte> bytes, size_t descriptors) {
  const auto frame = runtime::decode_cell_frame(bytes, descriptors, kNow);
  if (!frame) return;
  if (const auto* done = std::get_if<shim::JobDone>(&*frame)) return use(*done);
  if (const auto* ready = std::get_if<shim::CellReady>(&*frame)) {
    VERIFY(ready->failure.error != 0 || descriptors == 1 + size_t{ready->has_listener});
  } else if (std::holds_alternative<shim::JobTracked>(*frame)) {
    VERIFY(descriptors == 1);
  } else {
    const bool is_held = std::holds_alternative<shim::JobHeld>(*frame);
    VERIFY((is_held || std::holds_alternative<shim::JobRests>(*frame)) && descriptors == 0);
  }
}

void from_template(std::span<const std::byte> bytes, size_t descriptors) {
  const auto frame = runtime::decode_template_frame(bytes, descriptors);
  if (!frame) return;
  const auto* born = std::get_if<shim::CellBorn>(&*frame);
  VERIFY(descriptors <= 1);
  if (born) VERIFY(descriptors == 1 || born->failure.error != 0);
}

void region(std::string_view bytes) {
  constexpr size_t kPayload = 4096;
  constexpr uint64_t kNonce = 0x6e6f6e6365;  // seeds have it
  static const auto answer = runtime::SharedAnswer::create(kPayload).value();
  const std::string blank(sizeof(shim::AnswerRegion), '\0');
  VERIFY(::pwrite(answer.fd(), blank.data(), blank.size(), 0) > 0);
  VERIFY(::pwrite(answer.fd(), bytes.data(), std::min(bytes.size(), answer.bytes()), 0) >= 0);

  const auto note = answer.note();
  VERIFY(note.line >= -1 && note.event.size() <= sizeof(shim::AuditNote::event));
  for (char c : note.event) VERIFY(c >= 0x20 && c <= 0x7e);
  const size_t most = bytes.size() % kPayload;
  if (const auto taken = answer.take(kNonce, most)) VERIFY(taken->payload.size() <= most);
  (void)answer.clear();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  const uint8_t speaker = input.byte();
  const size_t descriptors = input.byte();
  const std::string_view bytes = input.rest();
  switch (speaker % 3) {
    case 0:
      from_template(std::as_bytes(std::span(bytes)), descriptors);
      break;
    case 1:
      from_cell(std::as_bytes(std::span(bytes)), descriptors);
      break;
    default:
      region(bytes);
  }
  return 0;
}
