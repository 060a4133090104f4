#pragma once
// Decodes the frames that a template and its cells send to the daemon. The sender shares a process
// or a kernel with hostile programs, so nothing is taken on trust: a frame has the size and the
// descriptors of its kind, and every figure in it is one that correct code could have sent. All
// else is no frame, and its sender is to be ended. Pure; called on a shard's loop.

#include <cstddef>
#include <optional>
#include <span>
#include <variant>

#include "sandbox/sys/units.h"
#include "shim/protocol.h"

namespace runtime {

inline constexpr size_t kLongestFrame = 256;

// CellBorn comes with the cell's pidfd unless it tells of a failure.
using TemplateFrame = std::variant<shim::TemplateBorn, shim::TemplateReady, shim::CellBorn>;
std::optional<TemplateFrame> decode_template_frame(std::span<const std::byte> bytes,
                                                   size_t descriptors);

// CellReady comes with the cell's root, and with its listener if it says so; JobTracked with one
// or, where the kernel cannot, none. `now` is the monotonic clock: JobDone tells of no moment that
// is still to come, its durations are not negative, and sums of its figures cannot overflow.
using CellFrame =
    std::variant<shim::CellReady, shim::JobTracked, shim::JobRests, shim::JobHeld, shim::JobDone>;
std::optional<CellFrame> decode_cell_frame(std::span<const std::byte> bytes, size_t descriptors,
                                           sys::Nanoseconds now);

}  // namespace runtime
