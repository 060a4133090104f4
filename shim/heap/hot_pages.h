#pragma once
// Hot pages: those of the image that nearly every job writes to. Found once, by running small trial
// jobs; then copied in each job by one system call, which costs half of what the faults would.

namespace shim {

// In a trial child, when its program has ended: notes which pages it has written to. Each call
// keeps only the pages that all trials so far have written.
void note_hot_pages();

// In the template: allocates the record before the first trial, and freezes it after the last.
bool start_hot_pages();
unsigned freeze_hot_pages();  // how many pages

// In a job. No allocation.
void copy_hot_pages();

}  // namespace shim
