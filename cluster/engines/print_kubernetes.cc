// The manifest for Kubernetes: a Deployment under the `restricted` pod security standard, a network
// policy and an autoscaler. Texts of options are written as JSON strings, which are YAML, too.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

#include "cluster/engines/printed_words.h"

namespace cluster {

namespace {

constexpr std::string_view kFolder = "/etc/zygo/";

std::string json_text(const std::string& text) { return nlohmann::json(text).dump(); }

// An argument of a container: there $(NAME) would be a variable's value, and $$ is a dollar sign.
std::string argument(const std::string& text) {
  std::string plain;
  for (const char c : text) {
    plain += c;
    if (c == '$') plain += c;
  }
  return json_text(plain);
}

std::string quoted_list(const std::vector<std::string>& texts, std::string_view indent) {
  std::string all;
  for (const std::string& each : texts) all += fmt::format("{}- {}\n", indent, argument(each));
  return all;
}

// The port of a router's URL; 443 or 80 where it names none.
unsigned port_of(std::string_view url) {
  const bool is_plain = url.starts_with("http:") || url.starts_with("ws:");
  const size_t scheme = url.find("://");
  if (scheme != url.npos) url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find_first_of("/?#"));
  const size_t colon = url.rfind(':');
  unsigned port = is_plain ? 80 : 443;
  if (colon != url.npos && url.find(']', colon) == url.npos) {
    std::from_chars(url.data() + colon + 1, url.data() + url.size(), port);
  }
  return port;
}

std::string head(const PrintOptions& options) {
  std::string files;
  for (const std::string& path : paths_of(options))
    files += fmt::format(" --from-file={}", shell_word(path));
  return fmt::format(
      "# Pilots of zygo: kubectl apply -f FILE. Their files first:\n"
      "#   kubectl create namespace {0}\n"
      "#   kubectl label namespace {0} pod-security.kubernetes.io/enforce=restricted\n"
      "#   kubectl -n {0} create secret generic zygo-pilot{1}\n"
      "# The nodes need a kernel with Landlock (5.13 or later). `image` is the service's image.\n",
      shell_word(options.space), files);
}

// {0} namespace, {1} pilots, {2} seconds until SIGKILL, {3} image, {4} arguments, {5} cores,
// {6} MiB. The image listens on all addresses unless told otherwise; an empty variable is unset.
constexpr std::string_view kDeployment = R"(apiVersion: apps/v1
kind: Deployment
metadata:
  name: zygo-pilot
  namespace: {0}
  labels: {{app.kubernetes.io/name: zygo-pilot}}
spec:
  replicas: {1}
  selector:
    matchLabels: {{app.kubernetes.io/name: zygo-pilot}}
  template:
    metadata:
      labels: {{app.kubernetes.io/name: zygo-pilot}}
    spec:
      automountServiceAccountToken: false
      enableServiceLinks: false  # they would set variables whose names begin with ZYGO_
      terminationGracePeriodSeconds: {2}  # from SIGTERM, with which the pilot drains, to SIGKILL
      securityContext:
        runAsNonRoot: true
        runAsUser: 10001
        runAsGroup: 10001
        fsGroup: 10001
        seccompProfile:
          type: RuntimeDefault
      containers:
        - name: pilot
          image: {3}
          args:
{4}          env:
            - name: POD_NAME  # the pilot's name
              valueFrom:
                fieldRef: {{fieldPath: metadata.name}}
            - name: ZYGO_REQUIRE  # the level that such a pod has
              value: minimal
            - name: ZYGO_LISTEN  # it has no callers but its routers
              value: ""
            - name: ZYGO_LOG
              value: json
            - name: ZYGO_BUILD_CACHE  # nothing is compiled at this level
              value: "0"
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities:
              drop: [ALL]
          resources:
            requests: {{cpu: "{5}", memory: {6}Mi}}
            limits: {{cpu: "{5}", memory: {6}Mi, ephemeral-storage: 2Gi}}
          volumeMounts:
            - {{name: scratch, mountPath: /tmp}}
            - {{name: home, mountPath: /var/lib/zygo}}
            - {{name: files, mountPath: /etc/zygo, readOnly: true}}
      volumes:
        - name: scratch  # of the jobs
          emptyDir: {{sizeLimit: 1Gi}}
        - name: home  # blobs
          emptyDir: {{sizeLimit: 1Gi}}
        - name: files
          secret:
            secretName: zygo-pilot
            defaultMode: 0440
)";

// {0} namespace, {1} ports
constexpr std::string_view kPolicy = R"(---
# Jobs have no network by themselves. A pilot calls its routers and asks for their names; nobody calls it. What counts here
# is the port of the pod that answers: 8000 of the image, 53 (5353 on OpenShift) of DNS.
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: zygo-pilot
  namespace: {0}
spec:
  podSelector:
    matchLabels: {{app.kubernetes.io/name: zygo-pilot}}
  policyTypes: [Ingress, Egress]
  ingress: []
  egress:
    - ports:
        - {{protocol: UDP, port: 53}}
        - {{protocol: TCP, port: 53}}
        - {{protocol: UDP, port: 5353}}
        - {{protocol: TCP, port: 5353}}
{1})";

// {0} namespace, {1} least, {2} most, {3} metrics; each line after `prefix`.
constexpr std::string_view kScaler = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: zygo-pilot
  namespace: {0}
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: zygo-pilot
  minReplicas: {1}
  maxReplicas: {2}
  metrics:
{3}  behavior:
    scaleUp:
      stabilizationWindowSeconds: 0
    scaleDown:
      stabilizationWindowSeconds: 300
)";

constexpr std::string_view kByWait = R"(    - type: External
      external:
        metric:
          name: zygo_estimated_wait_seconds
        target:
          type: Value
          value: "1"
)";

constexpr std::string_view kByCpu = R"(    - type: Resource
      resource:
        name: cpu
        target:
          type: Utilization
          averageUtilization: 70
)";

constexpr std::string_view kAboutWait = R"(---
# More pilots while a job that comes now would wait for more than a second, as the routers estimate it. Their metric
# zygo_estimated_wait_seconds must reach the external metrics API: prometheus-adapter does it with
#   rules: {external: [{seriesQuery: zygo_estimated_wait_seconds, resources: {namespaced: false},
#     metricsQuery: 'max(<<.Series>>{<<.LabelMatchers>>})'}]}
# Prometheus reads /metrics of each router with a token that has the scope `metrics`.
)";

constexpr std::string_view kAboutCpu = R"(---
# Without the adapter, by the cores that pilots use (metrics-server): put this in the place of the autoscaler above. Two of
# them at once would contradict each other.
)";

std::string commented(const std::string& text) {
  std::string all;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size() - 1);
    all += "# " + text.substr(at, end + 1 - at);
    at = end + 1;
  }
  return all;
}

std::string ports_of(const PrintOptions& options) {
  std::set<unsigned> ports = {8000};
  for (const std::string& url : options.joins) ports.insert(port_of(url));
  std::string text;
  for (const unsigned port : ports) {
    text += fmt::format("        - {{protocol: TCP, port: {}}}\n", port);
  }
  return text;
}

}  // namespace

std::string print_kubernetes(const PrintOptions& options) {
  const std::string space = json_text(options.space);
  const std::vector<std::string> words =
      pilot_words(options, files_in(std::string(kFolder), options));
  const unsigned most =
      std::max(options.pilots, options.most_pilots ? options.most_pilots : 4 * options.pilots);
  const auto scaler = [&](std::string_view metrics) {
    return fmt::format(kScaler, space, options.pilots, most, metrics);
  };
  return head(options) +
         fmt::format(kDeployment, space, options.pilots, options.drain_before.count(),
                     json_text(options.image), quoted_list(words, "            "), options.cpus,
                     std::max<uint64_t>(1, options.memory.count >> 20)) +
         fmt::format(kPolicy, space, ports_of(options)) + std::string(kAboutWait) +
         scaler(kByWait) + std::string(kAboutCpu) + commented(scaler(kByCpu));
}

}  // namespace cluster
