#pragma once
// A directory that is being read, closed when it goes.

#include <dirent.h>

#include <memory>

namespace sys {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using OwnedDirectory = std::unique_ptr<DIR, CloseDirectory>;  // of opendir(3), fdopendir(3)

}  // namespace sys
