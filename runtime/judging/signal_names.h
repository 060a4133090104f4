#pragma once
// Names of Linux signals, for verdicts and results. A table of our own: the judge includes no
// system header, and strsignal() gives sentences.

#include <optional>
#include <string>
#include <string_view>

namespace runtime {

std::string signal_name(int number);                      // "SIGKILL", "SIGRTMIN+3", "signal 77"
std::optional<int> signal_number(std::string_view name);  // the inverse

}  // namespace runtime
