#pragma once
// Guests: other processes that share the engine of a `zygo batch`, such as the forked children of
// the program that started it. A holder of the other end of the door, a SEQPACKET socket, sends a
// stream socket over it and gets a batch of its own there: its jobs, ids and results never meet
// those of another stream, and they are cancelled when its socket closes. The descriptor is the
// right to enter, and the peer must have our uid besides. Owns a thread for each guest; all else is
// done on the main thread, which watches the door.

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

#include "sandbox/sys/fd.h"
#include "sandbox/sys/result.h"

namespace cli {

class Guests {
 public:
  // Serves one stream socket until it ends; called on a thread of its own.
  using Serve = std::function<void(int socket)>;
  static constexpr size_t kMost = 256;  // at once; whoever comes then sees its socket close

  // Takes the descriptor `door`. An error where it is no such socket.
  static sys::Result<std::unique_ptr<Guests>> open(int door, Serve serve);
  ~Guests() { see_out(); }
  Guests(const Guests&) = delete;
  Guests& operator=(const Guests&) = delete;

  int door() const { return door_.get(); }  // readable: somebody is there; -1: nobody will come
  void answer_the_door();
  size_t present();
  // Lets in who comes while others are here, waits for the last of them, and closes the door.
  void see_out();

 private:
  Guests(sys::OwnedFd door, sys::OwnedFd gone, Serve serve)
      : door_(std::move(door)), gone_(std::move(gone)), serve_(std::move(serve)) {}
  void admit(sys::OwnedFd socket);
  void join_the_gone();

  sys::OwnedFd door_;
  sys::OwnedFd gone_;  // readable when a guest has gone
  Serve serve_;
  struct Guest {
    std::thread thread;
    bool gone = false;
  };
  std::mutex mutex_;  // of what follows
  size_t present_ = 0;
  std::list<Guest> guests_;
};

}  // namespace cli
