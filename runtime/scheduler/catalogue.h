#pragma once
// Catalogue: which templates there are, what they need and what this host gives; constant after the
// engine has started. HostConfig implements it for a host, the unit tests without one. Thread-safe.

#include <optional>
#include <string>
#include <vector>

#include "images/store.h"
#include "runtime/builds/build_cache.h"
#include "runtime/builds/command_rule.h"
#include "runtime/builds/runtime_spec.h"
#include "runtime/builds/template_spec.h"
#include "runtime/scheduler/artefact_store.h"
#include "sandbox/policy.h"
#include "sandbox/sys/units.h"

namespace runtime {

class Catalogue {
 public:
  virtual ~Catalogue() = default;

  // By its name, or a runtime by an alias; null: there is none.
  virtual const TemplateSpec* find_template(const std::string& name) const = 0;
  virtual std::string template_names() const = 0;  // for error messages
  virtual sandbox::Level level() const = 0;
  // The first of these levels and layers that is not in force; empty when all are.
  virtual std::string unmet(const std::vector<std::string>& required) const = 0;

  virtual bool has_python() const = 0;
  virtual bool has_early_cells(const TemplateSpec& spec) const = 0;
  virtual bool is_warm(const TemplateSpec& spec) const = 0;  // its interpreter is the template
  // Of executed programs in fixed mode: the library to preload, as they see it; empty: none can be.
  virtual std::string preload_of_programs() const = 0;
  // Why fixed mode is none here, for a job of this template; empty: it is. `starts`: the job runs
  // programs of its own.
  virtual std::string objection_to_fixed_mode(bool starts) const = 0;
  // Whether a program of the image has the C library loaded for it. Reads the disk.
  virtual bool is_dynamic(const std::string& program) const = 0;
  // Whether a process can have its memory at the same addresses in every run.
  virtual bool fixes_addresses() const = 0;
  virtual const Toolchain& toolchain_of(const TemplateSpec& spec) const = 0;  // of a runtime
  // Jobs see its files; null: they see the host's own.
  virtual const images::Image* image() const = 0;
  // The absolute path of a command word as a program of the image would find it; nothing: it is not
  // there. Reads the disk.
  virtual std::optional<std::string> find_program(const std::string& word) const = 0;
  // The rights of a command that runs this program of the image.
  virtual CommandRule rule_of_command(const std::string& program) const = 0;
  virtual sys::Milliseconds tenant_idle() const = 0;  // an unused template of a tenant then goes

  // All that a compiler's output depends on, beside the runtime and the job.
  virtual std::string identity_of_build(const TemplateSpec& spec) const = 0;
  // A program that this tenant had compiled is found by it alone, unless builds are shared.
  virtual std::string build_key(std::string key, const std::string& tenant) const = 0;
  virtual ArtefactStore& artefacts() = 0;
  virtual BuildCache* builds() = 0;  // on disk; null: there is none
};

}  // namespace runtime
