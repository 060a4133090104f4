#include "images/image_root.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>

#include "images/host_image.h"
#include "images/tree/directory_names.h"
#include "sandbox/sys/file.h"

namespace images {

using sandbox::ImagePlan;
using sys::Error;
using sys::OwnedFd;
using sys::Result;
using Kind = sandbox::ImageEntry::Kind;

namespace {

constexpr size_t kMostEntries = 256;  // each is a mount; the root has room for 1024 inodes
constexpr std::array<std::string_view, 5> kOfTheJob = {"proc", "sys", "dev", "tmp", "run"};

bool is_of_the_job(const std::string& name) {
  return std::find(kOfTheJob.begin(), kOfTheJob.end(), name) != kOfTheJob.end() ||
         "/" + name == kShimTarget || "/" + name == kSetupTarget;
}

Result<sandbox::ImageEntry> entry_of(int rootfs, const Image& image, const std::string& name) {
  struct stat info {};
  if (::fstatat(rootfs, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) < 0)
    return Error::from_errno("stat " + image.rootfs + "/" + name);
  if (!S_ISLNK(info.st_mode))
    return sandbox::ImageEntry{Kind::kBind, "/" + name, image.rootfs + "/" + name};
  char target[PATH_MAX];
  const ssize_t n = ::readlinkat(rootfs, name.c_str(), target, sizeof target);
  if (n < 0) return Error::from_errno("readlink " + image.rootfs + "/" + name);
  return sandbox::ImageEntry{Kind::kSymlink, "/" + name,
                             std::string(target, static_cast<size_t>(n))};
}

}  // namespace

Result<ImagePlan> image_plan(const Image& image, const std::string& shim) {
  auto rootfs = sys::open(image.rootfs, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!rootfs) return std::move(rootfs).error().context("image " + image.name);
  ImagePlan plan;
  for (const std::string& name : TRY(names_in(rootfs->get()))) {
    if (is_of_the_job(name)) continue;
    plan.push_back(TRY(entry_of(rootfs->get(), image, name)));
  }
  if (plan.size() > kMostEntries) {
    return Error::because("image " + image.name + ": its top level has " +
                          std::to_string(plan.size()) + " entries; at most " +
                          std::to_string(kMostEntries) + " can be shown");
  }
  add_devices(plan);
  plan.push_back({Kind::kDirectory, "/tmp", ""});
  add_proc(plan);
  plan.push_back({Kind::kBind, kShimTarget, shim});
  return plan;
}

}  // namespace images
