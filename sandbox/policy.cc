#include "sandbox/policy.h"

#include <array>

namespace sandbox {

namespace {
constexpr std::array<std::string_view, 4> kProfiles = {"pure", "default", "subprocess", "build"};
constexpr std::array<std::string_view, 3> kLevelNames = {"full", "contained", "minimal"};
constexpr std::array<std::string_view, kLayerCount> kLayers = {
    "userns",   "pidns",         "mntns",       "netns",      "ipcns",    "utsns",
    "cgroupns", "cgroup.memory", "cgroup.pids", "cgroup.cpu", "landlock", "seccomp",
    "uid",      "caps",          "nnp",         "rlimits",    "fds",      "scratch"};

template <typename E, size_t N>
std::optional<E> find(const std::array<std::string_view, N>& names, std::string_view name) {
  for (size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<E>(i);
  }
  return std::nullopt;
}
}  // namespace

Layers layers_of(Level level) {
  Layers layers = Layers::all();
  if (level == Level::kFull) return layers;
  for (Layer layer : {Layer::kUserNs, Layer::kPidNs, Layer::kMountNs, Layer::kNetNs, Layer::kIpcNs,
                      Layer::kUtsNs, Layer::kCgroupNs, Layer::kScratch}) {
    layers = layers.without(layer);
  }
  return level == Level::kContained ? layers : layers.without(Layer::kUid);
}

std::string_view name_of(Profile profile) { return kProfiles[static_cast<size_t>(profile)]; }
std::string_view name_of(Level level) { return kLevelNames[static_cast<size_t>(level)]; }
std::string_view name_of(Layer layer) { return kLayers[static_cast<size_t>(layer)]; }
std::optional<Profile> profile_named(std::string_view name) {
  return find<Profile>(kProfiles, name);
}
std::optional<Level> level_named(std::string_view name) { return find<Level>(kLevelNames, name); }
std::optional<Layer> layer_named(std::string_view name) { return find<Layer>(kLayers, name); }

}  // namespace sandbox
