// The templates that come with zygo: the interpreters, and the languages, which are files of JSON.

#include "runtime/host/library.h"
#include "runtime/json/runtime_json.h"
#include "runtime/engine/engine_options.h"

namespace runtime {

using sys::Result;

Result<std::vector<TemplateSpec>> shipped_templates() {
  std::vector<TemplateSpec> templates = builtin_templates();
  auto command = std::make_shared<RuntimeSpec>();
  command->name = kCommandTemplate;
  command->title = "A program of the image";
  command->profile = sandbox::Profile::kSubprocess;
  templates.push_back({kCommandTemplate, {}, "", std::move(command)});
  const std::string library = TRY(library_directory());
  for (RuntimeSpec& spec : TRY(load_runtimes(library + "/runtimes"))) {
    const std::string name = spec.name;
    templates.push_back({name, {}, "", std::make_shared<RuntimeSpec>(std::move(spec))});
  }
  return templates;
}

}  // namespace runtime
