// zygo-exec: the zygote of templates whose programs are executed (compiled ones, shells, foreign
// interpreters). Nothing is warm in it but itself; it is small, so that a fork of it costs little.
// Linked statically: an image needs nothing for it, not even a C library.

#include "shim/protocol.h"
#include "shim/serve.h"

int main() { shim::serve_cells(shim::kControlFd); }
