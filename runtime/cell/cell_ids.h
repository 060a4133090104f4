#pragma once
// CellIds: the user ids of one cell. A value, but for the slot that it holds.

#include <cstdint>
#include <optional>

#include "images/job_user.h"
#include "runtime/host/id_slots.h"
#include "shim/protocol.h"

namespace runtime {

// The ids of one cell, as CellOrder carries them; and as the daemon counts ids, with whose it reads
// a job's memory where its own do not do, and whose the job's files are where they are not its own.
// `inside`: what a job sees of itself, in a user namespace.
// No two cells that are there at once have the same; the last goes when its cell's object does,
// when nothing of the cell is left.
struct CellIds {
  IdSlots::Lease slot;
  uint32_t init = 0, job = 0, sweeper = 0;
  std::optional<uint32_t> reader, owner;
  images::JobUser inside = {shim::kJobId, shim::kJobId};
};

}  // namespace runtime
