#pragma once

#include <cstdint>

#include "runtime/job/job.h"
#include "runtime/remote/wire.h"

namespace cluster {

// What Kind::kStart says of one job to a pilot that speaks `version`: its head, the job, its
// program where it is compiled already, and its trace. A program that cannot be read goes as empty,
// and the pilot says that there is none.
void write_start(uint64_t number, const runtime::Job& job, uint16_t version,
                 runtime::WireWriter& out);

}  // namespace cluster
