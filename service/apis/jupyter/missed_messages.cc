#include "service/apis/jupyter/missed_messages.h"

#include <iterator>
#include <utility>

#include "service/apis/jupyter/protocol.h"

namespace service::jupyter {

void MissedMessages::begin(std::string client) {
  client_ = std::move(client);
  said_.clear();
  share_.resize(0);
}

void MissedMessages::add(Channel channel, const Message& message) {
  const bool is_for_all = channel == Channel::kIopub;
  if (client_.empty() || !(is_for_all || are_of(message.identities.front()))) return;
  const size_t bytes = write_channel_message(channel, message).size();
  if (bytes > kMostBytes) return;
  while (share_.bytes() + bytes > kMostBytes || !share_.resize(share_.bytes() + bytes)) {
    if (said_.empty()) return;
    drop_oldest();
  }
  said_.push_back({channel, message, bytes});
}

void MissedMessages::drop_oldest() {
  share_.resize(share_.bytes() - said_.front().bytes);
  said_.pop_front();
}

std::vector<MissedMessages::Said> MissedMessages::take(const std::string& client) {
  if (!are_of(client)) return {};
  std::vector<Said> all(std::make_move_iterator(said_.begin()),
                        std::make_move_iterator(said_.end()));
  begin({});
  return all;
}

}  // namespace service::jupyter
