#pragma once
// Starting a thread where the machine may have no room for one, which std::thread tells by an
// exception. Daemon and command line only.

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
