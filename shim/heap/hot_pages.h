#pragma once
// Hot pages: those of the image that most jobs of a habit write to, found once by trial jobs. Each
// job copies them before its program runs: all by one system call, or by touching one after the
// other. Either costs less than a fault for each of them (a page that is read first takes two
// faults); which of them costs least depends on the host, so the template tries both.

#include "shim/heap/page_tally.h"
#include "shim/protocol.h"

namespace shim {

// In the template, after the trials of this habit.
void choose_hot_pages(Habit habit, const PageTally& tally);

// In the template, when all are chosen.
void choose_way_of_copying();

// In the template, before its first fork. Of an area that its parent has written to a fork copies
// what the parent has mapped, entry by entry: what this process has not written to, it forgets.
void drop_clean_pages();

// In a job. No allocation.
void copy_hot_pages(Habit habit);

}  // namespace shim
