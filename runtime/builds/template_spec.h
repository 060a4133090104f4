#pragma once
// TemplateSpec: what an engine can run, as a user may define it. A plain value.

#include <memory>
#include <string>
#include <vector>

#include "runtime/builds/runtime_spec.h"

namespace runtime {

// A template is an interpreter and what is imported before the first fork; or a runtime whose
// programs are executed.
struct TemplateSpec {
  std::string name;
  std::vector<std::string> preloads;  // module names, imported in order
  std::string setup;  // absolute path of a Python file, run after the preloads; may be empty
  std::shared_ptr<const RuntimeSpec> runtime = nullptr;  // executed: the two above are empty
  std::string setup_digest{};                            // of that file's content
};

}  // namespace runtime
