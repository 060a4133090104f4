#pragma once
// Tracebacks of the programs' Python as NeMo-Skills' sandbox tells them: by IPython, or by
// `python -c`, which knows no source. Pure; the text is the program's own, and may be anything.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace service::nemo {

// IPython's modes: kPlain has each frame's line, kMinimal the exception alone, kFull also where the
// frames are.
enum class Verbosity : uint8_t { kPlain, kMinimal, kFull };

// IPython's ListTB (IPython/core/ultratb.py) without the places within cells, which the original
// takes out: a model does not know the names of its cells.
// Groups of exceptions are told as Python does. The last `raw` bytes are lines of a message.
std::string told_by_ipython(std::string_view traceback, Verbosity verbosity, size_t raw = 0);
std::string told_of_command(std::string_view traceback, size_t raw = 0);

}  // namespace service::nemo
