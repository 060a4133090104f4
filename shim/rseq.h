#pragma once

namespace shim {

// The kernel reads a thread's rseq area when it was interrupted, and goes on at an address that
// stands there (rseq(2)): in memory that a job can write it would make whoever shares that memory
// run the job's code. True: this thread has none any more, which a registration of another one
// proves.
bool leave_rseq();

}  // namespace shim
