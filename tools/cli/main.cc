// zygo: the command line. Reads what is wanted, hands each command its neighbours, ends with its
// code.

#include "runtime/engine/engine.h"
#include "tools/cli/batch/batch.h"
#include "tools/cli/certify/certify.h"
#include "tools/cli/cluster/route.h"
#include "tools/cli/cluster/scale.h"
#include "tools/cli/command_line/command_line.h"
#include "tools/cli/command_line/documents.h"
#include "tools/cli/doctor/doctor.h"
#include "tools/cli/image/blob.h"
#include "tools/cli/image/image.h"
#include "tools/cli/init/init.h"
#include "tools/cli/isolate/isolate.h"
#include "tools/cli/judge/judge.h"
#include "tools/cli/kernel/kernel_commands.h"
#include "tools/cli/mcp/mcp.h"
#include "tools/cli/replay/replay.h"
#include "tools/cli/run/run.h"
#include "tools/cli/runtime_list.h"
#include "tools/cli/selfcheck/selfcheck.h"
#include "tools/cli/serve/front.h"
#include "tools/cli/serve/health.h"
#include "tools/cli/serve/serve.h"
#include "tools/cli/session/session.h"
#include "tools/cli/suites/suites.h"
#include "tools/cli/template_list.h"
#include "tools/cli/text.h"
#include "tools/cli/top/top.h"

namespace {

int perform(const cli::CommandLine& line, const cli::Parts& parts) {
  switch (line.command) {
    case cli::Command::kRun:
      return cli::run_command(line, parts);
    case cli::Command::kSession:
      return cli::session_command(line, parts);
    case cli::Command::kMcp:
      return cli::mcp_command(line, parts);
    case cli::Command::kKernelRun:
      return cli::kernel_run_command(line, parts);
    case cli::Command::kKernelInstall:
      return cli::kernel_install_command(line, parts);
    case cli::Command::kBatch:
      return cli::batch_command(line, parts);
    case cli::Command::kServe:
    case cli::Command::kPilot:
      return cli::serve_command(line, parts);
    case cli::Command::kRoute:
      return cli::route_command(line, parts);
    case cli::Command::kScale:
      return cli::scale_command(line, parts);
    case cli::Command::kJudge:
      return cli::judge_command(line, parts);
    case cli::Command::kTest:
      return cli::test_command(line, parts);
    case cli::Command::kDoctor:
      return cli::doctor_command(line);
    case cli::Command::kSelfcheck:
      return cli::selfcheck_command(line, parts);
    case cli::Command::kCertify:
      return cli::certify_command(line, parts);
    case cli::Command::kReplay:
      return cli::replay_command(line, parts);
    case cli::Command::kTop:
      return cli::top_command(line, parts);
    case cli::Command::kRuntimeList:
      return cli::runtime_list_command(line, parts);
    case cli::Command::kTemplateList:
      return cli::template_list_command(line, parts);
    case cli::Command::kImageImport:
      return cli::image_import_command(line, parts);
    case cli::Command::kImagePack:
      return cli::image_pack_command(line, parts);
    case cli::Command::kImageList:
      return cli::image_list_command(line);
    case cli::Command::kImageInspect:
      return cli::image_inspect_command(line);
    case cli::Command::kImageRemove:
      return cli::image_remove_command(line);
    case cli::Command::kBlobPut:
      return cli::blob_put_command(line);
    case cli::Command::kBlobList:
      return cli::blob_list_command(line);
    case cli::Command::kBlobRemove:
      return cli::blob_remove_command(line);
    case cli::Command::kDocument:
      return cli::document_command(line);
    case cli::Command::kInit:
      return cli::init_command(line);
    case cli::Command::kHealth:
      return cli::health_command(line);
  }
  return cli::kExitUsage;
}

}  // namespace

int main(int argc, char** argv) {
  if (const auto order = cli::front_order(argc, argv)) return cli::front_command(*order);
  auto stop = cli::StopSignals::install();
  if (!stop) {
    cli::write_error_line("zygo: " + stop.error().text());
    return cli::kExitSandbox;
  }
  if (auto arguments = cli::isolate_arguments(argc, argv))
    return cli::isolate_command(*arguments, {{}, runtime::Engine::start, &*stop});
  auto wish = cli::parse_command_line({argv + 1, argv + argc});
  if (int* code = std::get_if<int>(&wish)) return *code;

  auto templates = runtime::shipped_templates();
  if (!templates) {
    cli::write_error_line("zygo: " + templates.error().text());
    return cli::kExitSandbox;
  }
  cli::Parts parts{*std::move(templates), runtime::Engine::start, &*stop};
  return perform(std::get<cli::CommandLine>(wish), parts);
}
