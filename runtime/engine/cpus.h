#pragma once
// The CPUs that an engine's shards are pinned to.

#include <vector>

namespace runtime {

// Those that this process may use, in the order in which shards take them: the one that it runs on
// comes first. The kernel has begun it where there was little to do, so engines with fewer shards
// than CPUs, such as those of many `zygo run` or pilots, do not all take the same ones.
std::vector<unsigned> cpus_for_shards();

// `cpus`, ascending, beginning with `first` if it is among them, and then around. Pure.
std::vector<unsigned> beginning_with(std::vector<unsigned> cpus, unsigned first);

}  // namespace runtime
