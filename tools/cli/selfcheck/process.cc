#include "tools/cli/selfcheck/process.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "sandbox/sys/units.h"
#include "tools/cli/subprocess.h"

namespace cli {
namespace {

using sys::Error;
using sys::Result;

constexpr size_t kLongestReport = size_t{4} << 20;
constexpr sys::Milliseconds kLongestCheck{600'000};

std::vector<std::string> names_of(sandbox::Layers layers) {
  std::vector<std::string> names;
  for (unsigned i = 0; i < sandbox::kLayerCount; ++i) {
    const auto layer = static_cast<sandbox::Layer>(i);
    if (layers.has(layer)) names.emplace_back(sandbox::name_of(layer));
  }
  return names;
}

}  // namespace

std::vector<std::string> selfcheck_arguments(const CommonOptions& common) {
  std::vector<std::string> all{"zygo", "selfcheck", "--json", "--python", common.python};
  auto option = [&all](const char* name, const std::string& value) {
    if (!value.empty()) all.insert(all.end(), {name, value});
  };
  if (common.level) option("--level", std::string(sandbox::name_of(*common.level)));
  std::vector<std::string> required = names_of(common.required_layers);
  if (common.required_level)
    required.insert(required.begin(), std::string(sandbox::name_of(*common.required_level)));
  option("--require", fmt::format("{}", fmt::join(required, ",")));
  option("--without", fmt::format("{}", fmt::join(names_of(common.without), ",")));
  option("--preload", fmt::format("{}", fmt::join(common.preload, ",")));
  option("--heap", common.heap.value_or(""));
  option("--image", common.image);
  // The attempts are in Python, whatever language the service's own jobs are in.
  if (!common.preload.empty() || common.template_name.starts_with("python"))
    option("--template", common.template_name);
  return all;
}

Result<std::string> run_selfcheck(const CommonOptions& common, const StopSignals* stop) {
  // Its cells end with it.
  Ended ended = TRY(run_subprocess({.file = "/proc/self/exe",
                                    .argv = selfcheck_arguments(common),
                                    .most = kLongestCheck,
                                    .output = kLongestReport},
                                   stop == nullptr ? -1 : stop->fd()));
  if (ended.stopped) return Error::because("the service is ending");
  if (ended.code == kExitOk || ended.code == kExitSomeFailed) return std::move(ended.out);
  return Error::because(fmt::format("zygo selfcheck ended with {}: {}", ended.code,
                                    ended.err.substr(0, ended.err.find('\n'))));
}

}  // namespace cli
