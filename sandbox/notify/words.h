#pragma once
// Describes the argument of a refused call as text for a label: bounded, printable, valid UTF-8.
// Daemon side.

#include <string>
#include <string_view>

#include "sandbox/notify/notify.h"

namespace sandbox {

inline constexpr size_t kMaxArgument = 256;

// Control characters, backslashes and broken UTF-8 as \n, \\ or \x1b; cut to kMaxArgument with
// "...".
std::string escaped(std::string_view hostile);

// "AF_INET SOCK_STREAM", "127.0.0.1:80", "/bin/sh", "pid 1 SIGKILL", "CLONE_NEWUSER"; the first
// arguments in hexadecimal where nothing better is known; "unreadable" where the job's memory is.
std::string describe_arguments(std::string_view name, const Notice& notice);

}  // namespace sandbox
