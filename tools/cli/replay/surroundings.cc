#include "tools/cli/replay/surroundings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace cli {
namespace {

class Changes {
 public:
  explicit Changes(std::vector<Change>& into) : into_(into) {}

  // What a record does not say may have been anything.
  void compare(const std::string& what, const std::string& said, const std::string& here) {
    if (said == here) return;
    const std::string recorded = said.empty() ? kUnknown : said;
    const auto known = std::ranges::find_if(into_, [&](const Change& change) {
      return change.what == what && change.recorded == recorded && change.here == here;
    });
    known == into_.end() ? into_.push_back({what, recorded, here}) : void(++known->results);
  }

 private:
  std::vector<Change>& into_;
};

// Those of the one that the other has not.
std::string names_beyond(sandbox::Layers other, sandbox::Layers one) {
  std::vector<std::string_view> names;
  for (unsigned i = 0; i < sandbox::kLayerCount; ++i) {
    const auto layer = static_cast<sandbox::Layer>(i);
    if (one.has(layer) && !other.has(layer)) names.push_back(name_of(layer));
  }
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

std::string list_of(const std::vector<std::string>& modules) {
  return modules.empty() ? "none" : fmt::format("{}", fmt::join(modules, ", "));
}

std::string or_none(const std::string& text) { return text.empty() ? "none" : text; }

// The digest says that something differs; its parts say what, as far as the record has them.
void compare_templates(const runtime::Origin& recorded, const runtime::Origin& here,
                       Changes& changes) {
  changes.compare("template", recorded.template_name, here.template_name);
  if (recorded.template_name != here.template_name) return;
  const std::string name = "template " + here.template_name;
  changes.compare(name, recorded.identity, here.identity);
  changes.compare(name + ": interpreter", recorded.interpreter, here.interpreter);
  changes.compare(name + ": interpreter's digest", recorded.interpreter_digest,
                  here.interpreter_digest);
  changes.compare(name + ": preloads", list_of(recorded.preloads), list_of(here.preloads));
  changes.compare(name + ": setup", or_none(recorded.setup), or_none(here.setup));
  changes.compare(name + ": image", or_none(recorded.image), or_none(here.image));
}

}  // namespace

void add_changes(const runtime::JobResult& recorded, const runtime::Origin& here,
                 const runtime::Engine::Standing& standing, std::vector<Change>& into) {
  Changes changes(into);
  const bool says_origin = recorded.record && recorded.record->origin;
  const runtime::Origin origin = says_origin ? *recorded.record->origin : runtime::Origin();
  changes.compare("zygo", origin.zygo, here.zygo);
  changes.compare("kernel", origin.kernel, here.kernel);
  changes.compare("machine", origin.machine, here.machine);
  compare_templates(origin, here, changes);
  changes.compare("level", recorded.level ? std::string(name_of(*recorded.level)) : "",
                  std::string(name_of(standing.level)));
  changes.compare("further layers", names_beyond(standing.layers, recorded.enforced),
                  names_beyond(recorded.enforced, standing.layers));
}

std::string unknown_template(const runtime::JobResult& recorded, const std::string& name) {
  std::string text = fmt::format("template {} is unknown here", name);
  if (!recorded.record || !recorded.record->origin) return text;
  const runtime::Origin& origin = *recorded.record->origin;
  text += fmt::format("; it was recorded with --template {}", name);
  if (!origin.preloads.empty())
    text += fmt::format(" --preload {}", fmt::join(origin.preloads, ","));
  if (!origin.setup.empty()) text += " --setup FILE, of " + origin.setup;
  return text;
}

}  // namespace cli
