#include "shim/launch/options.h"

#include <charconv>
#include <optional>
#include <string_view>

namespace shim {

using sandbox::ImageEntry;

namespace {

std::optional<ImageEntry::Kind> image_kind(std::string_view option) {
  if (option == "--bind") return ImageEntry::Kind::kBind;
  if (option == "--device") return ImageEntry::Kind::kDevice;
  if (option == "--symlink") return ImageEntry::Kind::kSymlink;
  if (option == "--file") return ImageEntry::Kind::kFile;
  if (option == "--directory") return ImageEntry::Kind::kDirectory;
  if (option == "--data") return ImageEntry::Kind::kData;
  return std::nullopt;
}

}  // namespace

sys::Result<LaunchOptions> parse_launch_options(int argc, char** argv) {
  LaunchOptions options;
  int at = 1;
  auto next = [&]() -> std::string { return at < argc ? argv[at++] : ""; };
  bool all_numbers = true;
  auto number = [&] {
    const std::string word = next();
    uint32_t value = 0;
    const char* end = word.data() + word.size();
    auto [stopped, problem] = std::from_chars(word.data(), end, value);
    all_numbers = all_numbers && problem == std::errc{} && stopped == end;
    return value;
  };
  while (at < argc) {
    std::string option = next();
    if (option == "--") break;
    if (option == "--layers") {
      options.layers = sandbox::Layers::from_bits(number());
    } else if (option == "--id-base") {
      options.id_base = number();
    } else if (option == "--id-count") {
      options.id_count = number();
    } else if (option == "--plain") {
      options.plain = true;
    } else if (option == "--proc") {
      options.proc = true;
    } else if (option == "--core-cookie") {
      options.core_cookie = true;
    } else if (option == "--fixed") {
      options.fixed = next();
    } else if (option == "--run-as") {
      options.run_as = number();
    } else if (option == "--cgroup") {
      options.cgroup_files.push_back(next());
    } else if (std::optional<ImageEntry::Kind> kind = image_kind(option)) {
      std::string target = next();
      options.image.push_back({*kind, target, next()});
    } else {
      return sys::Error::because("unknown option " + option);
    }
  }
  while (at < argc) options.command.push_back(next());
  if (!all_numbers) return sys::Error::because("a value that should be a number is none");
  if (options.command.empty()) return sys::Error::because("no command");
  return options;
}

}  // namespace shim
