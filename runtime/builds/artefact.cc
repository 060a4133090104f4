#include "runtime/builds/artefact.h"

#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "sandbox/sys/file.h"

namespace runtime {

using sys::Result;

namespace {

// Executing what somebody may write to is refused (ETXTBSY), and who has made it still may.
Result<sys::OwnedFd> executable_of(std::string_view bytes) {
  sys::OwnedFd writable = TRY(sys::sealed_memfd("zygo-artefact", bytes));
  return sys::open("/proc/self/fd/" + std::to_string(writable.get()), O_RDONLY);
}

}  // namespace

Result<std::shared_ptr<const Artefact>> Artefact::create(std::vector<InputFile> files,
                                                         const std::string& program,
                                                         int64_t built_us) {
  auto artefact = std::make_shared<Artefact>();
  artefact->built_us = built_us;
  for (const InputFile& file : files) artefact->bytes += file.content.size();
  auto found = std::find_if(files.begin(), files.end(),
                            [&program](const InputFile& file) { return file.path == program; });
  if (found != files.end()) {
    artefact->program = TRY(executable_of(found->content));
    files.erase(found);
  }
  artefact->files = std::move(files);
  return std::shared_ptr<const Artefact>(std::move(artefact));
}

}  // namespace runtime
