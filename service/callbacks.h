#pragma once
// Callbacks: tell at a URL that a client has named what has become of its request. Who makes them
// may connect there, which the service may not. Loop thread only.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/loop/loop.h"
#include "sandbox/sys/result.h"

namespace service {

class Callbacks {
 public:
  static constexpr unsigned kMostTries = 3;
  static constexpr sys::Milliseconds kPatience{5'000};  // with each try

  struct Counts {
    uint64_t answered = 0;  // with a status of success
    uint64_t failed = 0;    // with another one, or not at all
    uint64_t dropped = 0;   // too many waited
  };
  virtual ~Callbacks() = default;

  // An error says what is wrong with the URL, or that nobody is called there. On any thread, and it
  // outlives these.
  using Check = std::function<sys::Result<void>(std::string_view url)>;
  virtual Check check() const = 0;
  // PUTs JSON to a URL that check() lets pass. `held` is kept until that is over.
  virtual void send(std::string_view url, std::string body, std::shared_ptr<void> held) = 0;
  virtual bool is_idle() const = 0;
  virtual Counts counts() const = 0;
};

// The maker of callbacks is called when there is a loop.
struct CallbacksHouse {
  runtime::Loop& loop;
  std::function<void()> rested;                  // is_idle() has become true
  std::function<void(const std::string&)> note;  // for the operator
};
using CallbacksMaker = std::function<std::unique_ptr<Callbacks>(CallbacksHouse)>;

}  // namespace service
