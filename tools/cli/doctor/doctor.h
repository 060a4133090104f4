#pragma once
// `zygo doctor`: the isolation that this host gives, layer by layer, the loss without each layer,
// and the command or setting that enables it.

#include <optional>
#include <string>
#include <vector>

#include "sandbox/front.h"
#include "sandbox/probe/place.h"
#include "sandbox/probe/probe.h"
#include "tools/cli/options.h"
#include "tools/cli/text.h"

namespace cli {

struct Checkup {
  std::vector<sandbox::LayerReport> layers;
  sandbox::Location location;
  std::string kernel;                   // uname -r
  std::string python;                   // the path
  std::string python_version;           // empty: it did not answer
  std::optional<sandbox::Level> asked;  // --level: shown instead of the best one
  // The rights that zygo's own processes give up here; none: unknown.
  std::optional<sandbox::OwnFences> own;
};

int doctor_command(const CommandLine& line);  // 0 when the floor is met, and what --require names

// The rest is for tests. The floor is what the weakest level needs: without it zygo refuses to
// start.

// The level that would run here: the one that was asked for, or the best; none: it cannot.
std::optional<sandbox::Level> running_level(const Checkup& checkup);
// Tells whether a layer or ability is in force at the level that would run.
bool in_force(const Checkup& checkup, const sandbox::LayerReport& layer);

// The layers that a process of zygo's own can have.
inline constexpr sandbox::Layer kOwnLayers[] = {
    sandbox::Layer::kCaps,     sandbox::Layer::kNoNewPrivs, sandbox::Layer::kSeccomp,
    sandbox::Layer::kLandlock, sandbox::Layer::kNetNs,      sandbox::Layer::kIpcNs,
    sandbox::Layer::kUtsNs};

std::string checkup_table(const Checkup& checkup, const Style& style, size_t width);
std::string checkup_json(const Checkup& checkup);
// Empty, or the names of what --level and --require ask for and this host does not give.
std::string unmet(const Checkup& checkup, const CommonOptions& common);

}  // namespace cli
