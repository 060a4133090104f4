#include "cluster/router/lost_pilots.h"

#include <utility>

namespace cluster {

void LostPilots::add(Loss loss) {
  ++counts_.at(static_cast<size_t>(loss.reason));
  losses_.push_front(std::move(loss));
  if (losses_.size() > kMost) losses_.pop_back();
}

const char* name_of(LostPilots::Reason reason) {
  switch (reason) {
    case LostPilots::Reason::kDisconnected:
      return "disconnected";
    case LostPilots::Reason::kSilent:
      return "silent";
    case LostPilots::Reason::kSentAway:
      return "sent_away";
  }
  return "";
}

}  // namespace cluster
