#pragma once
// What an interpreter and its libraries export, by name: nothing of them is known when we are
// built.

#include <dlfcn.h>

namespace shim {

template <typename Thing>
Thing* find(const char* name) {
  return reinterpret_cast<Thing*>(::dlsym(RTLD_DEFAULT, name));
}

}  // namespace shim
