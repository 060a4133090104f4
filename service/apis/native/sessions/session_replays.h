#pragma once
// SessionReplays: has nodes that are gone made anew, by running the steps of their log once more:
// from the nearest node before them that is there, or from the first step. What a node is called
// stays. Loop thread only.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "service/apis/native/context.h"
#include "service/apis/native/sessions/session_keeper.h"

namespace service {

class SessionReplays {
 public:
  SessionReplays(const NativeContext& context, SessionKeeper& keeper)
      : context_(context), keeper_(keeper) {}

  struct Asker {
    std::string client;
    Allowance::Share share;  // of its bytes, to make others of
  };
  // How many steps were run, or what to answer where the node could not be had.
  using Then = std::function<void(const std::optional<Response>& refusal, size_t steps)>;
  // For a node of the book that is gone, and that its client has not deleted. Who asks while a
  // replay is under way waits for that one. It ends when nobody who asked wants it any more.
  // Replays whose logs begin alike run the steps that they share once.
  void bring_back(const std::string& node, Asker asker, std::function<bool()> is_wanted, Then then);

 private:
  struct Replay;
  using ReplayPtr = std::shared_ptr<Replay>;
  void plan(const ReplayPtr& replay);
  void go_on(const ReplayPtr& replay);
  void submit(const ReplayPtr& replay, runtime::Job job);
  void end_step(const ReplayPtr& replay, const Finished& finished);
  void refuse(const ReplayPtr& replay, const std::string& why);
  void refuse_first(const ReplayPtr& replay, const Response& why);
  void finish(const ReplayPtr& replay, const std::optional<Response>& refusal);
  void delete_again(const Replay& replay);
  std::vector<ReplayPtr> stop_making(const ReplayPtr& replay);  // who waited for that

  const NativeContext& context_;
  SessionKeeper& keeper_;
  std::map<std::string, ReplayPtr> under_way_;  // by the node that is wanted
  // By the node whose step is being run: other replays that need it.
  std::map<std::string, std::vector<ReplayPtr>> in_making_;
};

}  // namespace service
