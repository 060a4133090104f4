#pragma once
// Names of Linux signals, for verdicts and results. A table of our own: the judge includes no
// system header, and strsignal() gives sentences.

#include <string>

namespace runtime {

std::string signal_name(int number);  // "SIGKILL", "SIGRTMIN+3", "signal 77"

}  // namespace runtime
