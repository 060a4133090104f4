#pragma once
// The terms of a policy: profiles, levels and layers, with their wire names. Pure values, used by
// the daemon (to choose and to report) and by the processes that confine themselves.

#include <cstdint>
#include <optional>
#include <string_view>

namespace sandbox {

enum class Profile : uint8_t {
  kPure,        // compute only: no processes, no threads, no sockets, no writes
  kDefault,     // threads and scratch files; no processes, no sockets
  kSubprocess,  // default + processes of the image
  kBuild,       // compilers
};

enum class OnViolation : uint8_t {
  kDeny,  // the call fails, the program goes on, the label is UnsafeCode all the same
  kKill,
};

enum class Level : uint8_t { kFull, kContained, kMinimal };  // from strong to weak
inline constexpr Level kLevels[] = {Level::kFull, Level::kContained, Level::kMinimal};

// One layer of isolation. The order is the order of `enforced` in a result.
enum class Layer : uint8_t {
  kUserNs,
  kPidNs,
  kMountNs,
  kNetNs,
  kIpcNs,
  kUtsNs,
  kCgroupNs,
  kCgroupMemory,
  kCgroupPids,
  kCgroupCpu,
  kLandlock,
  kSeccomp,
  kUid,
  kCaps,
  kNoNewPrivs,
  kRlimits,
  kDescriptors,
  kScratch,
};
inline constexpr unsigned kLayerCount = 18;

// A set of layers, as a bit mask.
class Layers {
 public:
  constexpr Layers() = default;
  static constexpr Layers all() { return Layers((1u << kLayerCount) - 1); }
  constexpr bool has(Layer layer) const { return bits_ & (1u << static_cast<unsigned>(layer)); }
  constexpr Layers with(Layer layer) const {
    return Layers(bits_ | (1u << static_cast<unsigned>(layer)));
  }
  constexpr Layers without(Layer layer) const {
    return Layers(bits_ & ~(1u << static_cast<unsigned>(layer)));
  }
  constexpr uint32_t bits() const { return bits_; }
  static constexpr Layers from_bits(uint32_t bits) { return Layers(bits); }
  constexpr bool operator==(const Layers&) const = default;

 private:
  constexpr explicit Layers(uint32_t bits) : bits_(bits) {}
  uint32_t bits_ = 0;
};

// The layers that a level may put in force, where the host gives them. What a level cannot have is
// replaced: see runtime/engine/host_config.h.
Layers layers_of(Level level);

// Wire names: "pure", "full", "userns", "cgroup.memory", "landlock", "seccomp", "uid", ...
std::string_view name_of(Profile profile);
std::string_view name_of(Level level);
std::string_view name_of(Layer layer);
std::optional<Profile> profile_named(std::string_view name);
std::optional<Level> level_named(std::string_view name);
std::optional<Layer> layer_named(std::string_view name);

}  // namespace sandbox
