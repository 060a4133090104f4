#include "runtime/job/input_path.h"

namespace runtime {

const char* objection_to_path(std::string_view path) {
  constexpr size_t kMaxComponent = 255;
  if (path.empty()) return "a path is not empty";
  if (path.find('\0') != std::string_view::npos) return "a NUL inside";
  if (path.front() == '/') return "a path is relative";
  while (true) {
    const size_t slash = path.find('/');
    const std::string_view component = path.substr(0, slash);
    if (component.empty()) return "a path has no empty part";
    if (component == "." || component == "..") return "a path has no \".\" or \"..\"";
    if (component.size() > kMaxComponent) return "a part of a path is at most 255 bytes";
    if (slash == std::string_view::npos) return nullptr;
    path.remove_prefix(slash + 1);
  }
}

}  // namespace runtime
