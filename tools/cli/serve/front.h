#pragma once
// The process of `zygo serve` that answers requests: it parses the bytes of strangers, and has no
// rights (sandbox/front.h). Its parent has the engine, at the other end of a channel.

#include <optional>
#include <string>
#include <vector>

namespace cli {

// The name that such a process goes by, and its descriptors beside the standard ones: the channel,
// and from there on the sockets that it listens on.
inline constexpr const char* kFrontName = "zygo-front";
inline constexpr int kFrontChannel = 3;
inline constexpr size_t kMostListeners = 60;  // as many descriptors as a child is given

// The settings that the front's parent has settled.
struct FrontOrder {
  size_t listeners = 0;
  bool with_tokens = false;
  std::string blobs;                   // root of the store; empty: there is none
  std::vector<std::string> arguments;  // of `zygo serve`
};
std::vector<std::string> front_arguments(const FrontOrder& order);

// None: this is no such process.
std::optional<FrontOrder> front_order(int argc, char** argv);
int front_command(const FrontOrder& order);

}  // namespace cli
