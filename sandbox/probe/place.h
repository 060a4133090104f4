#pragma once
// The place where zygo runs: a host, a service's unit, a container or a Kubernetes pod. The cures
// depend on it. Reading the clues is pure; clues_of_host() collects them.

#include <cstdint>
#include <string>
#include <string_view>

namespace sandbox {

enum class Place : uint8_t { kHost, kService, kContainer, kKubernetes };
std::string_view name_of(Place place);  // "host", "service", "container", "kubernetes"

// The clues to a place, as they were found.
struct PlaceClues {
  bool docker_file = false;             // /.dockerenv
  bool disk_root = false;               // the root is a disk's own file system, not an overlay
  bool podman_file = false;             // /run/.containerenv
  bool pod_files = false;               // /var/run/secrets/kubernetes.io
  bool pod_variable = false;            // KUBERNETES_SERVICE_HOST
  bool service_variable = false;        // INVOCATION_ID, which systemd gives to what it starts
  std::string container_variable = {};  // container=..., given by podman and systemd-nspawn
  std::string podman_text = {};         // the content of podman's file
  std::string cgroups = {};             // /proc/self/cgroup
  std::string status = {};              // /proc/self/status
  std::string uid_map = {};             // /proc/self/uid_map
  unsigned uid = 0;
};
PlaceClues clues_of_host();

struct Location {
  Place place = Place::kHost;
  std::string engine = {};  // "docker", "podman", "containerd", "lxc", ...; empty: cannot be told
  bool root = false;
  bool rootless = false;  // inside a user namespace: our root is somebody's ordinary user
  bool filtered = false;  // a seccomp filter is on us already
  bool operator==(const Location&) const = default;
};
Location location_of(const PlaceClues& clues);

// "in a container (docker), as root".
std::string sentence_of(const Location& location);

}  // namespace sandbox
