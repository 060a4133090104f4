#include "service/apis/registry.h"

#include "service/apis/dify/api.h"
#include "service/apis/e2b/api.h"
#include "service/apis/judge0/api.h"
#include "service/apis/jupyter/api.h"
#include "service/apis/librechat/api.h"
#include "service/apis/mcp/api.h"
#include "service/apis/nemo/api.h"
#include "service/apis/open_r1/api.h"
#include "service/apis/piston/api.h"
#include "service/apis/sandbox_fusion/api.h"

namespace service {

namespace {

template <class T>
std::unique_ptr<Api> make(const ApiContext& context, const ApiOptions&) {
  return std::make_unique<T>(context);
}

template <class T, auto Part>
std::unique_ptr<Api> make_with(const ApiContext& context, const ApiOptions& options) {
  return std::make_unique<T>(context, options.*Part);
}

std::unique_ptr<Api> make_librechat(const ApiContext& context, const ApiOptions& options) {
  return std::make_unique<librechat::LibreChatApi>(context, options.go_judge.store);
}

constexpr KnownApi kKnown[] = {
    {sandbox_fusion::SandboxFusionApi::kName, make<sandbox_fusion::SandboxFusionApi>},
    {piston::PistonApi::kName, make_with<piston::PistonApi, &ApiOptions::piston>},
    {dify::DifyApi::kName, make<dify::DifyApi>},
    {GoJudgeApi::kName, make_with<GoJudgeApi, &ApiOptions::go_judge>, "/w"},
    {open_r1::OpenR1Api::kName, make<open_r1::OpenR1Api>},
    {nemo::NemoApi::kName, make<nemo::NemoApi>},
    {librechat::LibreChatApi::kName, make_librechat, "/mnt/data"},
    {mcp::McpApi::kName, make<mcp::McpApi>},
    {judge0::Judge0Api::kName, make_with<judge0::Judge0Api, &ApiOptions::judge0>},
    {jupyter::JupyterApi::kName, make<jupyter::JupyterApi>},
    {e2b::E2bApi::kName, make<e2b::E2bApi>, "/home/user", true},
};

}  // namespace

std::span<const KnownApi> known_apis() { return kKnown; }

const KnownApi* known_api(std::string_view name) {
  for (const KnownApi& known : kKnown) {
    if (known.name == name) return &known;
  }
  return nullptr;
}

}  // namespace service
