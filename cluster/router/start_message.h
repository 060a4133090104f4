#pragma once

#include <cstdint>

#include "runtime/job/job.h"
#include "runtime/remote/wire.h"

namespace cluster {

// What Kind::kStart says of one job: its head, the job, and its program where it is compiled
// already. One that cannot be read goes as empty, and the pilot says that there is no program.
void write_start(uint64_t number, const runtime::Job& job, runtime::WireWriter& out);

}  // namespace cluster
