#pragma once
// Room: whether the host's memory is enough for so many jobs at once. The rules are pure; the
// amount that is free is asked of the kernel.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/sys/units.h"
#include "tools/cli/certify/corpus.h"

namespace cli {

// What one job more at once may take: its cell, and the mean of what the limits of the jobs allow.
// Of a limit only so much counts as programs usually need (kUsual).
sys::Bytes need_of_worker(const std::vector<LabelledJob>& corpus);

// Why the highest of the loads cannot be had; empty: it can.
std::string objection_to_loads(std::span<const unsigned> loads, unsigned cpus, sys::Bytes need,
                               sys::Bytes available);

// MemAvailable of /proc/meminfo; nothing where the text does not say it.
sys::Bytes available_in(std::string_view meminfo);

// Available to this process: of the host, and within the limits of the groups around it.
sys::Bytes available_memory();

}  // namespace cli
