#pragma once
// Ruby's collector can compact: it closes the pages that it moves objects from (mprotect(2)). The
// areas of borrowed memory are sealed against that, and Ruby would take it for a bug of its own and
// abort. So a job that borrows is told what Ruby says on machines where it cannot compact at all. A
// source that names compaction never gets here (runtime/scheduler/preparation.cc): it is forked.

namespace shim {

// In the template, with Ruby's lock, before it forks.
void let_borrowers_not_compact();

}  // namespace shim
