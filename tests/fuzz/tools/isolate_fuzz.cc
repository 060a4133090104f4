// isolate's command lines: words apart by newlines. Whatever they are, either they are refused in a
// sentence, or every path and number is within its bounds and no mount leads into another one.

#include <string>
#include <variant>
#include <vector>

#include "tests/fuzz/input.h"
#include "tools/cli/isolate/layout.h"
#include "tools/cli/isolate/options.h"

namespace {

void check_path(const std::string& path) {
  VERIFY(path.front() == '/' && path.find("//") == path.npos);
  VERIFY((path + "/").find("/../") == path.npos);
}

void check_layout(const cli::Layout& layout) {
  VERIFY(!layout.folders.empty() && layout.folders.front().inside == "/box");
  for (const cli::HostFolder& folder : layout.folders) {
    check_path(folder.inside);
    const bool is_written = folder.writes != cli::HostFolder::Writes::kNothing;
    VERIFY(!is_written || folder.inside == "/box" || folder.inside == "/tmp");
  }
  for (const sandbox::ImageEntry& mount : layout.mounts) {
    check_path(mount.target);
    VERIFY(!mount.target.starts_with("/usr") || !mount.target.ends_with("/"));
    VERIFY(!mount.target.starts_with("/proc/") && !mount.target.starts_with("/usr/"));
  }
}

void check_options(const cli::IsolateOptions& options) {
  check_path(options.directory);
  VERIFY(options.box <= 1'000'000 && options.open_files <= 1'048'576);
  VERIFY(options.processes != 0u);
  VERIFY(!options.group_memory || options.groups);
  if (options.time) VERIFY(options.time->count() > 0);
  const bool runs = options.mode == cli::IsolateOptions::Mode::kRun;
  VERIFY(runs != options.command.empty());
  auto made = cli::lay_out(options.directories, "/boxes/1/box");
  if (const auto* refused = std::get_if<cli::IsolateRefusal>(&made)) {
    VERIFY(!refused->sentence.empty());
  } else {
    check_layout(std::get<cli::Layout>(made));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  std::vector<std::string> words;
  // A word of a command line has no NUL.
  while (!input.empty()) words.emplace_back(std::string(input.up_to('\n')).c_str());
  auto parsed = cli::parse_isolate_options(words);
  if (const auto* refused = std::get_if<cli::IsolateRefusal>(&parsed)) {
    VERIFY(!refused->sentence.empty());
  } else {
    check_options(std::get<cli::IsolateOptions>(parsed));
  }
  return 0;
}
