// The user of an image, its passwd and its group: up to the first two NUL bytes, the texts are the
// user's name and passwd; group is the rest. Whatever they say, an id is one that can be given, and
// nobody becomes root.

#include <string>

#include "images/job_user.h"
#include "tests/fuzz/input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  const std::string_view user = input.up_to('\0'), passwd = input.up_to('\0');
  const std::string_view group = input.rest();
  const auto found = images::find_user(user, passwd, group);
  if (!found) {
    VERIFY(found.error().code() == 0 && found.error().text().starts_with("its user"));
    return 0;
  }
  if (!*found) return 0;
  constexpr uint32_t kLargest = 0x7fffffff;
  VERIFY((*found)->uid > 0 && (*found)->uid <= kLargest && (*found)->gid <= kLargest);
  // The user that was found has the same numbers when it is asked for by number.
  const std::string numbers = std::to_string((*found)->uid) + ":" + std::to_string((*found)->gid);
  const auto again = images::find_user(numbers, "", "");
  VERIFY(again && *again == *found);
  return 0;
}
