// What the front asks and orders about nodes of sessions.

#include <algorithm>
#include <utility>

#include "runtime/remote/engine_client.h"

namespace runtime {

namespace {

// Calls `each` with as many names as one message has, until none are left.
template <typename Each>
void in_messages(const std::string& tenant, const std::vector<std::string>& ids, Each each) {
  for (size_t from = 0; from < ids.size(); from += kMostNodes) {
    const auto begin = ids.begin() + static_cast<std::ptrdiff_t>(from);
    const size_t count = std::min(kMostNodes, ids.size() - from);
    each(NodeNames{tenant, {begin, begin + static_cast<std::ptrdiff_t>(count)}});
  }
}

}  // namespace

void EngineClient::forget_nodes(const std::string& tenant, const std::vector<std::string>& ids) {
  in_messages(tenant, ids, [this](const NodeNames& nodes) {
    WireWriter out = message(MessageKind::kForget);
    out(nodes);
    send(std::move(out));
  });
}

std::vector<std::string> EngineClient::why_gone(const std::string& tenant,
                                                const std::vector<std::string>& ids) {
  std::vector<std::string> all;
  in_messages(tenant, ids, [this, &all](NodeNames nodes) {
    const size_t until = all.size() + nodes.ids.size();
    const sys::Result<Reply> said = put(Question::kNodes, {.nodes = std::move(nodes)});
    std::string_view left = said ? std::string_view(said->answer.text) : "";
    for (size_t end = 0; all.size() < until && (end = left.find('\n')) != left.npos;) {
      all.emplace_back(left.substr(0, end));
      left.remove_prefix(end + 1);
    }
    all.resize(until);
  });
  return all;
}

}  // namespace runtime
