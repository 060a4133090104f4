#pragma once
// Owner of an open DIR, closed by its destructor.

#include <dirent.h>

#include <memory>

namespace sys {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using OwnedDirectory = std::unique_ptr<DIR, CloseDirectory>;  // of opendir(3), fdopendir(3)

}  // namespace sys
