#pragma once
// PilotLink: the way from the fleet to one pilot.

#include <string>
#include <string_view>

namespace cluster {

class PilotLink {
 public:
  virtual ~PilotLink() = default;
  virtual void send(std::string_view message) = 0;  // of wire/messages.h
};

}  // namespace cluster
