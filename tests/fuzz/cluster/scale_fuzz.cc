// Reads what engines and routers say to `zygo scale`: a queue, for each engine, and GET /v1/pilots.
// What is read is bounded and safe to show, and a command made of it has no word of its own.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/scale/router_view.h"
#include "cluster/scale/slots.h"
#include "tests/fuzz/input.h"

namespace {

using namespace cluster;

void read_queue(Engine engine, std::string_view text) {
  const auto slots = parse_queue(engine, text);
  if (!slots) return;
  std::vector<std::string> ids;
  for (const EngineSlot& slot : *slots) {
    VERIFY(!slot.id.empty() && slot.id.find_first_not_of("0123456789_.") == std::string::npos);
    VERIFY(slot.id.front() >= '0' && slot.id.front() <= '9');
    for (const char c : slot.trouble) VERIFY(c >= 0x20 && c < 0x7f);
    ids.push_back(slot.id);
  }
  VERIFY(cancel_command(engine, ids).argv.size() == ids.size() + 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  const uint8_t what = input.byte() % 3;
  if (what < 2) {
    read_queue(what == 0 ? Engine::kSlurm : Engine::kHtcondor, input.rest());
    return 0;
  }
  const auto view = parse_router_view(input.rest());
  if (view) VERIFY(view->wait.count() >= 0);
  return 0;
}
