#include "sandbox/requirements.h"

namespace sandbox {

std::string unmet(Level level, Layers layers, const std::vector<std::string>& required) {
  for (const std::string& name : required) {
    if (const auto layer = layer_named(name); layer && !layers.has(*layer)) return "layer " + name;
    if (const auto wanted = level_named(name); wanted && level > *wanted) return "level " + name;
  }
  return {};
}

}  // namespace sandbox
