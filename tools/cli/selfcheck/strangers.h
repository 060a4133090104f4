#pragma once
// Processes that outlive the engine. A process that a job leaves on the host becomes a child of
// ours, so that none is missed.

#include <sys/types.h>

#include <vector>

namespace cli {

// From now on orphans below us become our children. Before the engine starts. Returns the children
// that exist already: our starter may have left us some.
std::vector<pid_t> adopt_orphans();

// Once the engine is gone: ends all children but the known ones. Returns how many there were that
// did not end by themselves.
unsigned end_strangers(const std::vector<pid_t>& known);

}  // namespace cli
