#include "service/jupyter/message.h"

#include <catch2/catch.hpp>

namespace service::jupyter {

TEST_CASE("members of a content that are of another type are not there", "[jupyter]") {
  const nlohmann::json content = {{"code", "1"}, {"silent", true}, {"n", 3}};
  CHECK(text_of(content, "code") == "1");
  CHECK(text_of(content, "n").empty());
  CHECK(flag_of(content, "silent", false));
  CHECK(flag_of(content, "n", true));
  CHECK(number_of(content, "n", 0) == 3);
  CHECK(number_of(content, "code", 5) == 5);
}

}  // namespace service::jupyter
