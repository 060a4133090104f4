#pragma once
// Zygote: the daemon's handle on one template process, warm and confined, that forks cells on
// order. Owned by a shard, used on its loop only. Dropping it ends the template and,
// because it is the init process of their pid namespace, every cell of it.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/cell/handles.h"
#include "runtime/cell/template_line.h"
#include "runtime/cell/wire_decode.h"
#include "runtime/job/outcome.h"
#include "runtime/loop/loop.h"
#include "sandbox/mounts/mounts.h"
#include "sandbox/policy.h"
#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"
#include "sandbox/sys/spawn.h"
#include "shim/protocol.h"

namespace runtime {

// All that a template process is made from. The same for every shard; `seed` and `fixed` alone tell
// templates of one name apart.
struct ZygotePlan {
  std::string name;                  // of the template
  std::string identity;              // "python-numpy@sha256:..."
  unsigned seed = 0;                 // 0, 1, ...: which hash seed and address layout
  std::string fixed;                 // for jobs in fixed mode: our library, as its image sees it
  std::string launcher;              // path of zygo-launch
  std::vector<std::string> command;  // what the template process executes, as its image sees it
  std::string heap;                  // see EngineOptions
  std::vector<std::string> environment;  // of the image, NAME=value; over our own
  sandbox::ImagePlan image;
  sandbox::Layers layers;
  uint32_t id_base = 0;  // host ids of the template; id_count 0: only the caller's own id
  uint32_t id_count = 0;
  bool proc = false;         // cells have a /proc of their own
  bool core_cookie = false;  // see EngineOptions
  bool plain = false;        // no namespaces: levels contained and minimal
  uint32_t run_as = 0;       // plain: the uid to take; 0: the daemon's
};

class Zygote : public TemplateHandle {
 public:
  // Starts the launcher. `changed` is called when the state leaves kStarting, and again if a ready
  // template dies.
  static sys::Result<std::unique_ptr<Zygote>> start(Loop& loop, const ZygotePlan& plan,
                                                    std::function<void()> changed);
  ~Zygote() override;

  State state() const override { return state_; }
  const std::string& identity() const override { return incarnation()->identity(); }
  const std::string& reason() const override { return reason_; }
  Evidence::Fault fault() const override { return {shim::Step::kStartTemplate, error_, reason_}; }
  bool was_killed() const override { return killed_; }
  void end() override;
  bool is_ending() const override {
    return ending_ && (state_ == State::kStarting || state_ == State::kReady);
  }

  // For orders, only in kReady, or in kStarting: cells are then forked as soon as the template can,
  // which may be before its heap image.
  TemplateLine& line() const { return static_cast<TemplateLine&>(*incarnation()); }

 private:
  Zygote(Loop& loop, std::shared_ptr<TemplateLine> line, std::function<void()> changed);
  void on_control();
  bool take_message();  // false: there is none
  void on_frame(const TemplateFrame& frame, std::vector<sys::OwnedFd> fds);
  void on_talk();
  void ended();
  void conclude(int status);

  Loop& loop_;
  std::function<void()> changed_;
  State state_ = State::kStarting;
  bool killed_ = false;
  bool ending_ = false;
  int error_ = 0;
  std::string reason_, talk_;
  sys::OwnedFd talk_fd_;
  sys::Child launcher_;
  std::optional<sys::Child> process_;
  std::unique_ptr<Readable> control_ready_, talk_ready_, launched_, end_ready_;
};

}  // namespace runtime
