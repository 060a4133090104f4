#pragma once
// The calls that a seccomp filter around us (a container engine's) answers by itself, so that ours
// cannot notify them: the facts for FilterVariant::masked. Asked once, at start, by the daemon.
// Tries each call in a short-lived child whose own filter lets none of them through, so nothing is
// ever done; takes some ten milliseconds, three seconds at most, and leaves nothing behind.

#include <vector>

namespace sandbox {

// Numbers, in ascending order, of the calls that some profile notifies in some variant, and that
// are answered, or killed, before a notification of ours is seen. One that is answered for some
// arguments only counts, too: a trap in place of a notification is right for all of them. Nothing
// where no filter is around us, and where the trial failed.
std::vector<int> masked_calls();

// Tells whether clone() with a CLONE_NEW* flag is masked, while plain clone() is not.
bool clone_flags_masked();

}  // namespace sandbox
