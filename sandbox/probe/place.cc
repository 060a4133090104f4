#include "sandbox/probe/place.h"

#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "sandbox/sys/file.h"

namespace sandbox {

namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The line "NAME:\tVALUE" of a status file.
std::string_view field(std::string_view status, std::string_view name) {
  for (size_t at = status.find(name); at != std::string_view::npos;
       at = status.find(name, at + 1)) {
    std::string_view rest = status.substr(at + name.size());
    if ((at > 0 && status[at - 1] != '\n') || !rest.starts_with(":\t")) continue;
    return rest.substr(2, rest.find('\n') - 2);
  }
  return {};
}

// The identity map is the initial user namespace's, or one that looks just like it.
bool maps_everything(std::string_view uid_map) {
  uint64_t numbers[3] = {1, 1, 0};
  for (uint64_t& number : numbers) {
    uid_map.remove_prefix(std::min(uid_map.find_first_not_of(" \t"), uid_map.size()));
    auto [end, problem] = std::from_chars(uid_map.data(), uid_map.data() + uid_map.size(), number);
    if (problem != std::errc{}) return false;
    uid_map.remove_prefix(static_cast<size_t>(end - uid_map.data()));
  }
  return numbers[0] == 0 && numbers[1] == 0 && numbers[2] >= 0xfffffffe;
}

constexpr auto kEngines = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"docker", "docker"},
    {"libpod", "podman"},
    {"containerd", "containerd"},
    {"crio", "cri-o"},
    {"lxc", "lxc"},
});

std::string engine_of(const PlaceClues& clues) {
  if (clues.podman_file) return "podman";
  // A virtual machine whose image was exported from an engine keeps the file as well.
  bool left_over = clues.disk_root && field(clues.status, "Seccomp") != "2";
  if (clues.docker_file && !left_over) return "docker";
  for (const auto& [part, engine] : kEngines) {
    if (contains(clues.cgroups, part)) return std::string(engine);
  }
  return clues.container_variable;
}

// An engine that leaves no trace still leaves its filter. A unit of systemd's can have one too, and
// says so by its variable.
bool looks_contained(const PlaceClues& clues) {
  return field(clues.status, "Seccomp") == "2" && !clues.service_variable;
}

// systemd gives INVOCATION_ID to sessions as well; a service's processes are in a group *.service.
bool in_service(const PlaceClues& clues) {
  return clues.service_variable && contains(clues.cgroups, ".service") &&
         !contains(clues.cgroups, "/user@");
}

bool is_disk(const char* path) {
  constexpr long kExt = 0xef53, kXfs = 0x58465342;  // statfs(2)
  struct statfs about {};
  return ::statfs(path, &about) == 0 && (about.f_type == kExt || about.f_type == kXfs);
}

}  // namespace

std::string_view name_of(Place place) {
  switch (place) {
    case Place::kHost:
      return "host";
    case Place::kService:
      return "service";
    case Place::kContainer:
      return "container";
    case Place::kKubernetes:
      return "kubernetes";
  }
  return "";
}

PlaceClues clues_of_host() {
  auto text = [](const char* path) {
    sys::Result<std::string> read = sys::read_file(path, 1 << 20);
    return read ? *read : std::string();
  };
  auto is_there = [](const char* path) { return ::access(path, F_OK) == 0; };
  const char* container = std::getenv("container");
  return {.docker_file = is_there("/.dockerenv"),
          .disk_root = is_disk("/"),
          .podman_file = is_there("/run/.containerenv"),
          .pod_files = is_there("/var/run/secrets/kubernetes.io"),
          .pod_variable = std::getenv("KUBERNETES_SERVICE_HOST") != nullptr,
          .service_variable = std::getenv("INVOCATION_ID") != nullptr,
          .container_variable = container == nullptr ? "" : container,
          .podman_text = text("/run/.containerenv"),
          .cgroups = text("/proc/self/cgroup"),
          .status = text("/proc/self/status"),
          .uid_map = text("/proc/self/uid_map"),
          .uid = ::geteuid()};
}

Location location_of(const PlaceClues& clues) {
  Location location;
  location.engine = engine_of(clues);
  location.root = clues.uid == 0;
  location.rootless = contains(clues.podman_text, "rootless=1") ||
                      (!clues.uid_map.empty() && !maps_everything(clues.uid_map));
  location.filtered = field(clues.status, "Seccomp") == "2";
  if (clues.pod_variable || clues.pod_files || contains(clues.cgroups, "kubepods")) {
    location.place = Place::kKubernetes;
  } else if (!location.engine.empty() || looks_contained(clues)) {
    location.place = Place::kContainer;
  } else if (in_service(clues)) {
    location.place = Place::kService;
  }
  return location;
}

std::string sentence_of(const Location& location) {
  std::string text;
  switch (location.place) {
    case Place::kHost:
      text = "on a host";
      break;
    case Place::kService:
      text = "in a systemd service";
      break;
    case Place::kContainer:
      text = "in a container";
      break;
    case Place::kKubernetes:
      text = "in a Kubernetes pod";
      break;
  }
  if (!location.engine.empty()) text += " (" + location.engine + ")";
  text += location.root ? ", as root" : ", not as root";
  if (location.rootless) text += location.root ? " of a user namespace" : ", in a user namespace";
  if (location.filtered && location.place != Place::kHost) text += ", under a seccomp filter";
  return text;
}

}  // namespace sandbox
