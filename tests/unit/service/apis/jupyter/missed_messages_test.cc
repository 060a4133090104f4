#include "service/apis/jupyter/missed_messages.h"

#include <catch2/catch.hpp>

namespace service::jupyter {
namespace {

Message message_for(const char* client, size_t bytes = 1) {
  Message made;
  made.identities = {client};
  made.content = {{"text", std::string(bytes, 'x')}};
  return made;
}

class Told {
 public:
  explicit Told(size_t held = size_t{1} << 30) : allowance_(held) {}
  Allowance& allowance() { return allowance_; }
  MissedMessages& missed() { return missed_; }
  // How many, of which channels.
  std::string take(const std::string& client) {
    std::string channels;
    for (const auto& each : missed_.take(client))
      channels += each.channel == Channel::kIopub   ? 'i'
                  : each.channel == Channel::kShell ? 's'
                                                    : '?';
    return channels;
  }

 private:
  Allowance allowance_;
  MissedMessages missed_{Allowance::Share(allowance_, "ann")};
};

}  // namespace

TEST_CASE("missed messages: those for all and its own, since it left", "[jupyter]") {
  Told told;
  told.missed().add(Channel::kIopub, message_for("topic"));
  CHECK(told.take("").empty());
  told.missed().begin("one");
  told.missed().add(Channel::kIopub, message_for("topic"));
  told.missed().add(Channel::kShell, message_for("one"));
  told.missed().add(Channel::kShell, message_for("other"));
  CHECK(told.take("other").empty());
  CHECK(told.allowance().held() > 0);
  CHECK(told.take("one") == "is");
  CHECK(told.allowance().held() == 0);
  told.missed().add(Channel::kIopub, message_for("topic"));
  CHECK(told.take("one").empty());
}

TEST_CASE("missed messages: another who leaves has its place", "[jupyter]") {
  Told told;
  told.missed().begin("one");
  told.missed().add(Channel::kIopub, message_for("topic"));
  told.missed().begin("other");
  CHECK(told.allowance().held() == 0);
  told.missed().add(Channel::kShell, message_for("one"));
  told.missed().add(Channel::kShell, message_for("other"));
  CHECK(told.take("one").empty());
  CHECK(told.take("other") == "s");
}

TEST_CASE("missed messages: the latest, as many as there is room for", "[jupyter]") {
  constexpr size_t kLong = MissedMessages::kMostBytes / 4;
  for (const size_t held : {size_t{1} << 30, MissedMessages::kMostBytes / 2}) {
    Told told(held);
    told.missed().begin("one");
    for (int i = 0; i < 100; ++i) told.missed().add(Channel::kIopub, message_for("topic", kLong));
    told.missed().add(Channel::kIopub, message_for("topic", MissedMessages::kMostBytes));
    told.missed().add(Channel::kShell, message_for("one"));
    CHECK(told.allowance().held() <= std::min(held, MissedMessages::kMostBytes));
    CHECK(told.take("one") == (held > MissedMessages::kMostBytes ? "iiis" : "is"));
  }
}

}  // namespace service::jupyter
