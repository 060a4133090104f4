#pragma once
// The messages between a router and its pilots. A pilot opens the connection, a WebSocket of binary
// messages (subprotocol "zygo.pilot"); each carries one or more frames (frames.h), and each frame
// is one message: a kind, the number of an assignment (0: of none), and what the kind says, in the
// bytes of runtime/remote/wire.h and job_wire.h.
//
// An assignment is one start of one job at one pilot. Its number is the router's own and is never
// used twice, so what comes late names nothing any more, and a verdict counts once.
//
// Both sides begin with what versions of this list they speak; the newest that both speak is
// spoken. Neither believes what the other says: bytes that are no message end the connection.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/job/live_io.h"
#include "runtime/remote/protocol.h"
#include "runtime/remote/wire.h"

namespace cluster {

inline constexpr uint32_t kMagic = 0x6f67797a;  // "zygo"
inline constexpr uint16_t kOldestVersion = 1, kNewestVersion = 2;
inline constexpr uint16_t kTraceVersion = 2;  // from which on a start may have a trace
inline constexpr const char* kSubprotocol = "zygo.pilot";

enum class Kind : uint8_t {
  kHello = 1,  // pilot: Hello; the first one
  kWelcome,    // router: Welcome
  kAlive,      // both, several times in a lease
  kStatus,     // pilot: Status
  kRuntimes,   // pilot: its languages, the JSON of `zygo runtime list`
  kStart,      // router: StartHead, job; the job's program and its trace, if the head says so
  kStartPair,  // router: whether only one hears the other, and twice what kStart has
  kWithdraw,   // router: an assignment
  kSignal,     // router: of a live job, the signal's number
  kInput,      // router: of a live job, bytes of its stdin, and whether they are the last
  kTaken,      // pilot: of a live job, how many bytes of its stdin it has passed on
  kBegan,      // pilot: the numbers of assignments that cells have
  kNews,       // pilot: of a live job, stage, stdout, stderr
  kResult,     // pilot: whether it had begun, and the result
  kReturned,   // pilot: an assignment that it will not start
  kDraining,   // pilot: it takes nothing new
};

// Names the kind in messages for people; "?" for what is none.
const char* name_of(Kind kind);

struct Hello {
  uint32_t magic = kMagic;
  uint16_t oldest = kOldestVersion, newest = kNewestVersion;
  std::string name = {};    // of the pilot, for people
  std::string zygo = {};    // its version
  std::string engine = {};  // what has started it: "slurm", "htcondor", ...; may be empty
  uint32_t workers = 0;     // jobs that it runs at once
  uint8_t level = 0;        // sandbox::Level
  uint32_t layers = 0;      // sandbox::Layers, in force
  std::vector<std::string> templates = {};  // their names
  int64_t until = 0;  // seconds since 1970: the end of its slot; 0: none is known
};

struct Welcome {
  uint32_t magic = kMagic;
  uint16_t version = kNewestVersion;
  std::string router = {};  // its name
  uint32_t lease_ms = 0;    // after so long without a word the other side counts as lost
};

// What a pilot has to do, for all of its routers together.
struct Status {
  uint32_t under_way = 0;  // jobs that run or wait there
  uint32_t mean_us = 0;    // of a worker's time for one of the last jobs; 0: none has ended
  runtime::EngineCounts counts = {};
};

struct StartHead {
  enum Flags : uint8_t { kProgram = 1, kLive = 2, kTrace = 4, kAll = 7 };
  uint64_t number = 0;
  uint8_t flags = 0;
};

template <typename Archive>
void fields(Archive& a, Hello& hello) {
  a(hello.magic, hello.oldest, hello.newest, hello.name, hello.zygo, hello.engine, hello.workers,
    hello.level, hello.layers, hello.templates, hello.until);
}
template <typename Archive>
void fields(Archive& a, Welcome& welcome) {
  a(welcome.magic, welcome.version, welcome.router, welcome.lease_ms);
}
template <typename Archive>
void fields(Archive& a, Status& status) {
  a(status.under_way, status.mean_us, status.counts);
}
template <typename Archive>
void fields(Archive& a, StartHead& head) {
  a(head.number, head.flags);
}

inline runtime::WireWriter message(Kind kind, uint64_t number = 0) {
  runtime::WireWriter out;
  out(kind, number);
  return out;
}

// Why a hello is none of a pilot's; empty: it is one. Names are shown to people and in JSON.
std::string objection_to(const Hello& hello);

// Text of at most kLongestName bytes, in UTF-8 and without control characters.
inline constexpr size_t kLongestName = 256;
bool is_name(std::string_view text);

// The newest version that both speak; 0: there is none.
uint16_t common_version(uint16_t oldest, uint16_t newest);

}  // namespace cluster

namespace runtime {
template <>
struct WireEnd<cluster::Kind> {
  static constexpr auto kLast = cluster::Kind::kDraining;
};
}  // namespace runtime
