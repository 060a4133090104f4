#include "tools/cli/init/init.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "sandbox/sys/fd.h"
#include "sandbox/sys/file.h"
#include "tools/cli/init/example_files.h"
#include "tools/cli/refusal.h"

namespace cli {
namespace {

using sys::Error;
using sys::Result;

// What is there stays: O_EXCL follows no link and takes no file that exists.
Result<void> write_new(const std::filesystem::path& path, std::string_view text) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (error)
    return Error::because(fmt::format("{}: {}", path.parent_path().string(), error.message()));
  const sys::OwnedFd file = TRY(
      sys::open(path.string(), O_WRONLY | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH));
  return sys::write_all(file.get(), text);
}

}  // namespace

int init_command(const CommandLine& line) {
  const std::filesystem::path folder =
      line.init.folder.empty() ? "zygo-" + line.init.kind : line.init.folder;
  if (::mkdir(folder.c_str(), 0777) < 0) {
    std::error_code error;
    const bool is_empty = errno == EEXIST && std::filesystem::is_empty(folder, error) && !error;
    if (!is_empty)
      return refuse("init",
                    {errno == EEXIST ? folder.string() + " is there already; nothing was written"
                                     : Error::from_errno(folder.string()).text()});
  }
  const std::string prefix = line.init.kind + "/";
  for (const ExampleFile& file : example_files()) {
    if (!file.path.starts_with(prefix)) continue;
    const auto written = write_new(folder / file.path.substr(prefix.size()), file.text);
    if (!written) return refuse("init", {written.error().text(), kExitSandbox});
  }
  if (line.common.quiet) return kExitOk;
  return say(fmt::format("{} is written; its README.md says how to run it", folder.string()));
}

}  // namespace cli
