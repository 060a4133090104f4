// zygo-exec: the zygote of templates whose programs are executed (compiled ones, shells, foreign
// interpreters). Nothing is warm in it but itself; it is small, so that a fork of it costs little.
// Linked statically: an image needs nothing for it, not even a C library.
//
//   zygo-exec                                  serves
//   zygo-exec --warm SCRIPT PROGRAM WORD ...   becomes the interpreter PROGRAM, called by WORD ...,
//                                              with zygo-warm.so loaded: that one serves, when the
//                                              interpreter has started and asks for SCRIPT

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "shim/protocol.h"
#include "shim/serve.h"
#include "shim/warm/names.h"

namespace {

// Returns where that interpreter cannot be executed: then it is executed for each job in vain, and
// each says so.
void become_interpreter(int argc, char** argv) {
  constexpr int kScript = 2, kProgram = 3, kWords = 4;
  if (argc <= kWords || std::string_view(argv[1]) != "--warm") return;
  const std::string own = argv[0];
  const std::string library = own.substr(0, own.rfind('/') + 1) + "zygo-warm.so";
  if (::access(library.c_str(), R_OK) < 0) return;
  ::setenv(shim::kPreloadName, library.c_str(), 1);
  ::setenv(shim::kScriptName, argv[kScript], 1);
  ::setenv(shim::kPlainName, own.c_str(), 1);
  ::execv(argv[kProgram], argv + kWords);
  for (const char* name : shim::kWarmNames) ::unsetenv(name);
}

}  // namespace

int main(int argc, char** argv) {
  become_interpreter(argc, argv);
  shim::serve_cells(shim::kControlFd);
}
