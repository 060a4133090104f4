#pragma once
// Starts a thread and returns an error where the machine has no room for one; std::thread would
// throw. Daemon and command line only.

#include <functional>
#include <thread>

#include "sandbox/sys/result.h"
#include "sandbox/sys/units.h"

namespace sys {

// How long a start-up waits for others to leave room.
inline constexpr Milliseconds kStartPatience = std::chrono::seconds(60);

// Tries again for so long while there is none.
Result<std::thread> start_thread(std::function<void()> work, Milliseconds patience = {});

}  // namespace sys
