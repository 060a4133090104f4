#pragma once
// Setting: what all shards share and none changes after the engine has started: where things are,
// what the host gives, which templates exist, the compiled filters. Thread-safe.

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "runtime/engine.h"
#include "runtime/zygote.h"
#include "sandbox/cgroup.h"

namespace runtime {

class Setting {
 public:
  static sys::Result<std::unique_ptr<Setting>> create(const EngineOptions& options);

  sandbox::Layers layers() const { return layers_; }  // to put in force
  sandbox::Level level() const { return level_; }
  // The first of these levels and layers that is not in force; empty when all are.
  std::string unmet(const std::vector<std::string>& required) const;
  const sandbox::CgroupRoot* cgroups() const { return &*cgroups_; }

  const TemplateSpec* find_template(const std::string& name) const;
  std::string template_names() const;  // for error messages
  ZygotePlan zygote_plan(const TemplateSpec& spec, unsigned seed) const;

  // The compiled filter of a profile; compiled once.
  sys::Result<std::string_view> filter(sandbox::Profile profile);
  uint64_t next_cell_number() { return cell_numbers_.fetch_add(1); }
  bool maps_ranges() const { return id_count_ > 0; }

 private:
  sys::Result<void> find_files(const EngineOptions& options);
  sys::Result<void> choose_layers(const EngineOptions& options);

  std::string heap_, launcher_, python_, python_stamp_;
  sandbox::ImagePlan image_;
  std::vector<TemplateSpec> templates_;
  sandbox::Layers layers_;
  sandbox::Level level_ = sandbox::Level::kFull;
  uint32_t id_base_ = 0, id_count_ = 0;
  std::optional<sandbox::CgroupRoot> cgroups_;
  std::mutex filter_mutex_;
  std::array<std::optional<std::string>, 4> filters_;
  std::atomic<uint64_t> cell_numbers_{0};
};

}  // namespace runtime
