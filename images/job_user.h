#pragma once
// The user that an image names for its programs, as numbers. Asked once when an engine starts, in
// the daemon. An image's user tables are untrusted. The number decides nothing about rights: a job
// only sees itself as that user.

#include <cstdint>
#include <optional>
#include <string_view>

#include "images/store.h"
#include "sandbox/sys/result.h"

namespace images {

struct JobUser {
  uint32_t uid = 0, gid = 0;
  bool operator==(const JobUser&) const = default;
};

// `user` as an OCI configuration has it: "", "app", "1001", "app:staff", "1001:0", looked up in the
// texts of passwd(5) and group(5). None: it is root, or not said. A number that has no line of its
// own has gid 0, as container engines have it; lines that make no sense are passed over. The error
// is a sentence about the user. Pure.
sys::Result<std::optional<JobUser>> find_user(std::string_view user, std::string_view passwd,
                                              std::string_view group);

// By the image's own /etc/passwd and /etc/group, read as its programs would find them: links lead
// within the image only. The error names the image.
sys::Result<std::optional<JobUser>> user_of(const Image& image);

}  // namespace images
