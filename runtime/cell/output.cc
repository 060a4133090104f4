// The output of a cell's job while it runs: read within its caps, held within its client's.

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "runtime/cell/cell.h"
#include "runtime/host/host_pressure.h"
#include "runtime/job/live_io.h"

namespace runtime {

void Cell::drain() {
  drain_one(out_.get(), result_.out, order_.job ? order_.job->limits.out : sys::Bytes{0},
            Stream::kStdout);
  drain_one(err_.get(), result_.err, order_.job ? order_.job->limits.err : sys::Bytes{0},
            Stream::kStderr);
}

namespace {

// A move touches the whole output at once, while others wait; a reserve takes no memory before it
// is written. So a long output reserves much, and is moved seldom.
size_t next_capacity(size_t size) {
  constexpr size_t kLong = size_t{1} << 20;
  return size < kLong ? 2 * size : 8 * size;
}

}  // namespace

// Reads what is there. Past the cap the program is killed; what follows until it is dead is counted
// and thrown away, within a bound.
void Cell::drain_one(int fd, Output& output, sys::Bytes cap, Stream stream) {
  char chunk[65536];
  // More than a pipe has room for, once nobody writes any more; others have their turn before.
  const int rounds = clock_.is_doomed() ? 64 : 8;
  for (int round = 0; round < rounds; ++round) {
    ssize_t n = ::read(fd, chunk, sizeof chunk);
    if (n <= 0) return;
    output.total += static_cast<uint64_t>(n);
    size_t room = static_cast<size_t>(cap.count) -
                  std::min<size_t>(output.bytes.size(), static_cast<size_t>(cap.count));
    const size_t kept = std::min(room, static_cast<size_t>(n));
    if (!keep(output, {chunk, kept}, cap, stream)) continue;
    if (output.total <= cap.count) continue;
    output.truncated = true;
    if (result_.evidence.overflow == Stream::kNone) result_.evidence.overflow = stream;
    if (life_.is_running() && !clock_.is_doomed()) {
      kill_job();
      arm(sys::monotonic_now());
    }
  }
}

// Counted before it is there. False: so much may not be held for whoever sent the job, which ends
// it; that is no fault of the program's.
bool Cell::keep(Output& output, std::string_view bytes, sys::Bytes cap, Stream stream) {
  const size_t wanted = output.bytes.size() + bytes.size();
  const bool grows = wanted > output.bytes.capacity();
  const size_t moved = grows ? output.bytes.size() : 0;  // then it is there twice for a moment
  const size_t copied = order_.live ? bytes.size() : 0;
  if (!may_hold(bytes.size() + copied + moved)) return false;
  if (grows) {
    std::string larger;  // a string that has bytes would double
    larger.reserve(std::max(wanted, std::min<size_t>(next_capacity(moved), cap.count)));
    larger += output.bytes;
    output.bytes.swap(larger);
    if (result_.held) result_.held->shrink_to(result_.held->bytes() - moved);
  }
  output.bytes.append(bytes);
  if (order_.live) order_.live->put(stream, bytes);
  return true;
}

bool Cell::may_hold(size_t bytes) {
  const JobWatch* watch = order_.job ? order_.job->watch.get() : nullptr;
  if (bytes == 0 || !watch || !watch->held) return true;
  if (!result_.held) result_.held = std::make_shared<HeldBytes>(watch->held);
  if (!full_ && result_.held->grow(bytes)) return true;
  if (!std::exchange(full_, true)) {
    result_.evidence.fault = held_too_much();
    if (life_.is_running() && !clock_.is_doomed()) {
      kill_job();
      arm(sys::monotonic_now());
    }
  }
  return false;
}

}  // namespace runtime
