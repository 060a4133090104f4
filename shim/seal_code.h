#pragma once
// Seals the template's code, as its last step: the code can neither be unmapped nor replaced at its
// addresses, in the template and in all its forks.

namespace shim {

// Seals executable areas and the unwritable areas of the same files (mseal(2), Linux 6.10; does
// nothing on older kernels, which lack it). Memory that programs free, grow or give back stays as
// it is: sealed, that would fail. A program that takes the process's place by execve begins without
// seals.
void seal_code();

}  // namespace shim
