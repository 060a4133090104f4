#pragma once
// EngineDesk: what is known of a front's jobs while the engine has them, and what is sent of them:
// news, results, and on a board that the front maps, which of them have begun. The engine's threads
// hold it, so it may outlive its host; any thread.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

#include "runtime/engine/engine.h"
#include "runtime/loop/loop.h"
#include "runtime/remote/channel.h"
#include "runtime/remote/protocol.h"
#include "runtime/remote/submission.h"

namespace runtime {

// One byte for each seat.
using Board = std::shared_ptr<std::atomic<bool>>;

struct EngineDesk : std::enable_shared_from_this<EngineDesk> {
  struct Entry {
    std::shared_ptr<JobWatch> watch;
    std::shared_ptr<OrderedLive> live;
    uint32_t seat = kNoSeat;
  };

  // `board_file` becomes that of the board: the front can map it, but not write to it.
  static sys::Result<std::shared_ptr<EngineDesk>> create(Engine& engine, sys::OwnedFd socket,
                                                         sys::OwnedFd& board_file);
  EngineDesk(Engine& served, sys::OwnedFd socket, Board shared)
      : engine(served), channel(std::move(socket)), board(std::move(shared)), users(kSeats) {}

  void enter(const SubmittedJob& submitted);
  std::function<void(JobResult)> done_of(uint64_t number);
  void end(uint64_t number, const JobResult& result);
  // False: there is no room for more.
  bool send_news(uint64_t number, OrderedLive& live);
  void note_news(uint64_t number);
  void leave_to_the_loop(std::function<void()> work);
  // Nobody is there any more.
  void close();

  std::atomic<bool>& seat(uint32_t number) { return board.get()[number]; }

  Engine& engine;
  Channel channel;
  const Board board;
  std::mutex mutex;
  std::unordered_map<uint64_t, Entry> jobs;
  std::vector<uint32_t> users;  // of each seat
  std::set<uint64_t> with_news;
  std::vector<std::function<void()>> to_write;
  Wakeup* wakeup = nullptr;  // none: the host is gone

 private:
  Packet packed(uint64_t number, const Entry& entry, const JobResult& result);
};

}  // namespace runtime
