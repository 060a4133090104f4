#include "runtime/cell/wire_decode.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>

namespace runtime {

namespace {

constexpr int32_t kLargestErrno = 4095;  // what a system call can return, see <linux/err.h>
constexpr int32_t kLargestSignal = 64;
constexpr int64_t kMostNanoseconds = int64_t{10} * 366 * 86400 * 1'000'000'000;  // ten years
constexpr int64_t kMostKilobytes = int64_t{1} << 40;
constexpr uint64_t kMostAddresses = uint64_t{1} << 56;

bool in_range(int64_t value, int64_t least, int64_t most) {
  return value >= least && value <= most;
}

// The content of a frame of kind T; nothing when `bytes` has another size or tag.
template <typename T>
std::optional<T> frame_of(std::span<const std::byte> bytes) {
  T frame;
  const uint64_t tag = frame.tag;
  if (bytes.size() != sizeof frame) return std::nullopt;
  std::memcpy(&frame, bytes.data(), sizeof frame);
  if (frame.tag != tag) return std::nullopt;
  return frame;
}

bool failed(const shim::SetupFailure& failure) { return failure.error != 0; }

bool possible(const shim::SetupFailure& failure) {
  if (!in_range(failure.error, 0, kLargestErrno)) return false;
  if (failure.step > shim::Step::kRunning) return false;
  return failed(failure) == (failure.step != shim::Step::kNone);
}

bool all_flags(std::initializer_list<uint32_t> words) {
  for (uint32_t word : words) {
    if (word > 1) return false;
  }
  return true;
}

bool possible(const shim::CellBorn& born, size_t descriptors) {
  if (!possible(born.failure)) return false;
  // A cell whose id maps could not be written is dead, and its pidfd comes all the same.
  return descriptors == 1 || (descriptors == 0 && failed(born.failure));
}

bool possible(const shim::CellReady& ready, size_t descriptors) {
  if (!possible(ready.failure) || !all_flags({ready.has_listener, ready.has_holder})) return false;
  if (ready.image_bytes > kMostAddresses) return false;
  return descriptors ==
         (failed(ready.failure) ? 0 : 1 + size_t{ready.has_listener} + ready.has_holder);
}

// The child reaches its program perhaps before the fork has returned in the parent, so the two
// moments have no order.
bool possible(const shim::JobDone& done, size_t descriptors, int64_t now) {
  if (descriptors != 0 || !possible(done.failure)) return false;
  if (!all_flags({done.signalled, done.swept, done.blocks_full, done.inodes_full, done.clean,
                  done.had_company, done.stays})) {
    return false;
  }
  const bool ended_so =
      done.signalled ? in_range(done.code, 1, kLargestSignal) : in_range(done.code, 0, 255);
  const bool measured =
      in_range(done.cpu_ns, 0, kMostNanoseconds) && in_range(done.max_rss_kb, 0, kMostKilobytes) &&
      done.rollback <= shim::Rollback::kLost && in_range(done.rollback_ns, 0, kMostNanoseconds);
  for (int64_t moment : {done.forked_at_ns, done.confined_at_ns, done.ended_at_ns}) {
    if (!in_range(moment, 0, now)) return false;
  }
  if (done.ended_at_ns == 0) return ended_so && measured && done.confined_at_ns == 0;
  return ended_so && measured &&
         done.ended_at_ns >= std::max(done.forked_at_ns, done.confined_at_ns);
}

}  // namespace

std::optional<TemplateFrame> decode_template_frame(std::span<const std::byte> bytes,
                                                   size_t descriptors) {
  if (auto born = frame_of<shim::TemplateBorn>(bytes)) {
    return descriptors == 1 ? std::optional<TemplateFrame>(*born) : std::nullopt;
  }
  if (auto ready = frame_of<shim::TemplateReady>(bytes)) {
    const bool fine = descriptors == 0 && all_flags({ready->in_place});
    return fine ? std::optional<TemplateFrame>(*ready) : std::nullopt;
  }
  auto born = frame_of<shim::CellBorn>(bytes);
  if (!born || !possible(*born, descriptors)) return std::nullopt;
  return *born;
}

std::optional<CellFrame> decode_cell_frame(std::span<const std::byte> bytes, size_t descriptors,
                                           sys::Nanoseconds now) {
  if (auto ready = frame_of<shim::CellReady>(bytes)) {
    return possible(*ready, descriptors) ? std::optional<CellFrame>(*ready) : std::nullopt;
  }
  if (auto tracked = frame_of<shim::JobTracked>(bytes)) {
    return descriptors <= 1 ? std::optional<CellFrame>(*tracked) : std::nullopt;
  }
  if (auto held = frame_of<shim::JobHeld>(bytes)) {
    return descriptors == 0 ? std::optional<CellFrame>(*held) : std::nullopt;
  }
  if (auto rests = frame_of<shim::JobRests>(bytes)) {
    const bool fine = descriptors == 0 && all_flags({rests->has_timer});
    return fine ? std::optional<CellFrame>(*rests) : std::nullopt;
  }
  auto done = frame_of<shim::JobDone>(bytes);
  if (!done || !possible(*done, descriptors, now.count())) return std::nullopt;
  return *done;
}

}  // namespace runtime
