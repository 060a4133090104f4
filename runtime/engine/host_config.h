#pragma once
// HostConfig: what all shards share and none changes after the engine has started: where things
// are, what the host gives and what takes the place of what it does not, which templates exist, the
// compiled filters. Thread-safe.

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "images/job_user.h"
#include "runtime/builds/build_cache.h"
#include "runtime/builds/command_rule.h"
#include "runtime/cell/cell_ids.h"
#include "runtime/cell/handles.h"
#include "runtime/cell/rollback_record.h"
#include "runtime/cell/zygote.h"
#include "runtime/engine/engine_options.h"
#include "runtime/host/host_trouble.h"
#include "runtime/host/id_slots.h"
#include "runtime/host/scratch.h"
#include "runtime/host/uid_claim.h"
#include "runtime/scheduler/catalogue.h"
#include "sandbox/cgroup/cgroup.h"
#include "sandbox/probe/probe.h"
#include "sandbox/seccomp/seccomp.h"

namespace runtime {

class HostConfig : public Catalogue {
 public:
  static sys::Result<std::unique_ptr<HostConfig>> create(const EngineOptions& options);

  sandbox::Layers layers() const { return layers_; }  // to put in force
  sandbox::Level level() const override { return level_; }
  std::string unmet(const std::vector<std::string>& required) const override;
  const sandbox::CgroupRoot* cgroups() const { return &*cgroups_; }
  const sandbox::OuterOom* outer_oom() const {
    return layers_.has(sandbox::Layer::kCgroupMemory) ? nullptr : &outer_oom_;
  }

  // In the group that zygo was started in: of templates, and on v2 of all below.
  uint64_t own_oom_kills() const { return outer_oom_.kills().value_or(0); }

  const TemplateSpec* find_template(const std::string& name) const override;
  std::string template_names() const override;  // for error messages
  ZygotePlan zygote_plan(const TemplateSpec& spec, TemplateVariant variant) const;
  const images::Image* image() const override { return imported_ ? &*imported_ : nullptr; }
  std::string_view path_of_image() const;  // PATH
  std::optional<std::string> find_program(const std::string& word) const override;
  bool has_python() const override { return !python_.empty(); }
  bool has_early_cells(const TemplateSpec& spec) const override {
    return early_cells_ && !spec.runtime;
  }
  // Its programs may execute memory that they wrote: see FilterVariant.
  bool makes_code(const TemplateSpec& spec) const;
  bool is_warm(const TemplateSpec& spec) const override;  // its interpreter is the template
  const Toolchain& toolchain_of(const TemplateSpec& spec) const override;  // of an executed runtime
  CommandRule rule_of_command(const std::string& program) const override;
  size_t tenant_templates() const { return tenant_templates_; }
  sys::Milliseconds tenant_idle() const override { return tenant_idle_; }
  std::string build_key(std::string key, const std::string& tenant) const override;
  ArtefactStore& artefacts() override { return artefacts_; }
  BuildCache* builds() override { return builds_ ? &*builds_ : nullptr; }
  std::string identity_of_build(const TemplateSpec& spec) const override;
  // Where jobs of this template run; null: there is none. Reads the interpreter's file once.
  std::shared_ptr<const Origin> origin_of(const std::string& template_name);

  // The compiled filter of a profile; compiled once, and once more for what makes machine code.
  sys::Result<std::string_view> filter(sandbox::Profile profile, bool makes_code,
                                       bool borrows_memory);
  std::string preload_of_programs() const override;
  std::string objection_to_fixed_mode(bool starts) const override;
  bool is_dynamic(const std::string& program) const override;
  bool fixes_addresses() const override { return fixes_addresses_; }
  bool verifies_rollback() const { return verifies_rollback_; }
  HostTrouble& trouble() { return trouble_; }
  RollbackRecord& rollbacks() { return rollbacks_; }
  const RollbackRecord& rollbacks() const { return rollbacks_; }
  // Whether cells of this shape have a holder (shim/borrow/holder.h).
  bool borrows_memory(const TemplateSpec& spec, const CellShape& shape) const;
  sys::Result<std::string_view> observer_filter();
  const sandbox::FilterVariant& filter_variant() const { return variant_; }
  unsigned jobs_at_once() const { return jobs_at_once_; }
  uint64_t next_cell_number() { return cell_numbers_.fetch_add(1); }
  // An error (EAGAIN) where all are in use.
  sys::Result<CellIds> take_ids();

  // Without mounts: the directory a cell's jobs write in, and the Landlock ruleset that draws the
  // line around it and the image. Only if has_directories().
  bool has_directories() const { return scratch_.has_value(); }
  sys::Result<Scratch> make_scratch(uint64_t cell, const CellIds& ids) const;
  sys::Result<sys::OwnedFd> make_ruleset(const Scratch& scratch, bool executable) const;

 private:
  static constexpr sys::Bytes kArtefacts = sys::mebibytes(256);
  // The ids that jobs have. Below full there are no maps, and ids are the host's.
  enum class Ids : uint8_t {
    kOwn,     // the daemon's: an ordinary user, with or without a user namespace
    kMapped,  // a range for each template, two of it for each cell
    kReal,    // three for each cell
    kOther,   // root's choice on level minimal: one for all
  };

  sys::Result<void> find_files(const EngineOptions& options);
  sys::Result<void> find_in_image(const EngineOptions& options);
  sys::Result<void> choose_level(const EngineOptions& options,
                                 const std::vector<sandbox::LayerReport>& reports);
  sys::Result<void> choose_layers(const EngineOptions& options,
                                  const std::vector<sandbox::LayerReport>& reports);
  void note_programs();
  void add_folders();
  sys::Result<void> choose_ids();
  uint32_t slots_of_ids() const;
  sys::Result<void> replace_mounts();
  void choose_variant();
  std::vector<std::string> command_of(const TemplateSpec& spec, bool plain, bool fixed) const;
  std::string fixed_library() const;
  void try_fixed_library();
  std::string content_of(const TemplateSpec& spec) const;
  std::string identity_of(const TemplateSpec& spec) const;
  Origin make_origin(const TemplateSpec& spec) const;

  bool warm_ = true;
  bool share_builds_ = false;
  bool core_cookies_ = false;
  size_t tenant_templates_ = 0;
  sys::Milliseconds tenant_idle_{};
  std::string heap_, launcher_, shim_directory_, exec_directory_, python_, python_stamp_;
  sandbox::ImagePlan image_, exec_image_;
  std::optional<images::Image> imported_;
  std::optional<images::JobUser> user_;          // that the image names
  std::map<std::string, Toolchain> toolchains_;  // by template
  bool early_cells_ = false;
  bool python_makes_code_ = false;
  bool fixes_addresses_ = false;
  // Of the library of fixed mode: why no template can load it, and why no program can.
  std::string fixed_objection_, fixed_objection_of_programs_;
  std::vector<KnownProgram> known_programs_;
  ArtefactStore artefacts_{kArtefacts};
  std::optional<BuildCache> builds_;
  std::string packages_stamp_;  // of the host
  std::vector<TemplateSpec> templates_;
  sandbox::Layers layers_;
  sandbox::Level level_ = sandbox::Level::kFull;
  Ids ids_ = Ids::kOwn;
  uint32_t id_base_ = 0, id_count_ = 0;
  std::optional<UidClaim> uids_;  // where cells have ids of their own
  IdSlots id_slots_;
  sandbox::FilterVariant variant_;
  std::optional<ScratchRoot> scratch_;
  std::vector<sys::OwnedFd> readable_, devices_;  // O_PATH, for rulesets
  std::optional<sandbox::CgroupRoot> cgroups_;
  sandbox::OuterOom outer_oom_;
  std::mutex filter_mutex_;
  std::array<std::optional<std::string>, 16> filters_;
  HostTrouble trouble_;
  RollbackRecord rollbacks_;
  unsigned jobs_at_once_ = 0;
  bool borrows_memory_ = false, verifies_rollback_ = false;
  std::optional<std::string> observer_filter_;
  std::string version_;
  std::mutex origins_mutex_;
  std::map<std::string, std::shared_ptr<const Origin>> origins_;  // by template
  std::atomic<uint64_t> cell_numbers_{0};
};

}  // namespace runtime
