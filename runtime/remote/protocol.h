#pragma once
// The messages between the front and the engine, in the order of the life of a front. Each
// message is a kind, the number of a job or a question, and what the kind says; it is written in
// the bytes of wire.h.
//
// The engine believes nothing that the front says: a message that is not of this list, names a
// number that is not the front's own or brings other descriptors than it should ends the front.

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/job/live_io.h"
#include "runtime/remote/wire.h"
#include "runtime/scheduler/counts.h"
#include "sandbox/policy.h"

namespace runtime {

enum class MessageKind : uint8_t {
  kHello = 1,   // engine: Hello; with the board
  kSubmit,      // front: JobHead, job; with a program (kProgram), a pipe for stdin (kLive)
  kSubmitPair,  // front: whether only one hears the other; JobHead, job, JobHead, job
  kWithdraw,    // front: a job
  kSignal,      // front: a live job, and the signal's number
  kCancelAll,   // front
  kNews,        // engine: of a live job: stage, stdout, stderr
  kResult,      // engine: whether it has started, counts, result
  kCounts,      // engine: counts
  kForget,      // front: NodeNames
  kAsk,         // front: a Question; with kDial, an index; with kNodes, NodeNames
  kAnswer,      // engine: Answer; with the connection that kDial asked for
  kTell,        // front: a ServiceState
  kReload,      // engine: the configuration is to be read again
  kStop,        // engine: take nothing new, and end when all is answered
};
template <>
struct WireEnd<MessageKind> {
  static constexpr auto kLast = MessageKind::kStop;
};

template <>
struct WireEnd<LiveIo::Stage> {
  static constexpr auto kLast = LiveIo::Stage::kRunning;
};

// The front asks these, for it cannot know or do them itself. kDial names one of the addresses that
// the operator gave by its index: whoever has the front can have nothing else dialled. kNodes asks
// which nodes of sessions are there: of each, a line that is empty or says why it is gone.
enum class Question : uint8_t { kRuntimes, kSelfcheck, kConfiguration, kDial, kNodes };
template <>
struct WireEnd<Question> {
  static constexpr auto kLast = Question::kNodes;
};

// Nodes of a tenant's sessions, so many at most in one message.
inline constexpr size_t kMostNodes = 1000;
inline constexpr size_t kLongestNode = 64;  // bytes of an id
struct NodeNames {
  std::string tenant;
  std::vector<std::string> ids;
};

// The states that the supervisor of the service is to be told (sd_notify(3)).
enum class ServiceState : uint8_t { kReady, kReloading, kEnding };
template <>
struct WireEnd<ServiceState> {
  static constexpr auto kLast = ServiceState::kEnding;
};

struct Answer {
  bool ok = true;
  bool is_whole = true;  // of kRuntimes: every tool could be asked
  std::string text;      // not ok: why
};

struct Hello {
  uint32_t workers = 0;
  uint8_t level = 0;
  uint32_t layers = 0;
};

// In front of a job.
struct JobHead {
  enum Flags : uint8_t { kProgram = 1, kLive = 2 };
  uint64_t number = 0;
  uint32_t seat = 0;  // on the board: where the engine says that the job has started
  uint8_t flags = 0;
};

// The board is a page of bytes that the engine writes and the front can only read: a seat is 1 when
// its job has started. A job may have none.
inline constexpr uint32_t kSeats = 1 << 14;
inline constexpr uint32_t kNoSeat = ~uint32_t{0};

template <typename Archive>
void fields(Archive& a, Answer& answer) {
  a(answer.ok, answer.is_whole, answer.text);
}
template <typename Archive>
void fields(Archive& a, NodeNames& nodes) {
  a(nodes.tenant, nodes.ids);
}
template <typename Archive>
void fields(Archive& a, Hello& hello) {
  a(hello.workers, hello.level, hello.layers);
}
template <typename Archive>
void fields(Archive& a, JobHead& head) {
  a(head.number, head.seat, head.flags);
}
template <typename Archive>
void fields(Archive& a, EngineCounts& c) {
  a(c.cells, c.templates, c.cells_made, c.forks, c.tenant_templates, c.tenant_templates_dropped,
    c.rollback_failures);
}
// Beside them between a front and its engine: a pilot's counts are as they were before sessions.
template <typename Archive>
void fields(Archive& a, NodeCounts& c) {
  a(c.nodes, c.bytes, c.dropped, c.on_disk, c.disk_bytes, c.waiting, c.gone_on, c.standbys,
    c.stood_by);
}

inline WireWriter message(MessageKind kind, uint64_t number = 0) {
  WireWriter out;
  out(kind, number);
  return out;
}

}  // namespace runtime
