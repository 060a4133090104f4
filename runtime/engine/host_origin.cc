// Where jobs run, for the records of their results.

#include <fcntl.h>
#include <sys/utsname.h>

#include "images/sha256.h"
#include "runtime/engine/host_config.h"
#include "sandbox/sys/file.h"

namespace runtime {

namespace {

// The processor by its name; empty: /proc does not tell.
std::string processor() {
  const sys::Result<std::string> text = sys::read_file("/proc/cpuinfo");
  constexpr std::string_view kName = "model name";
  const size_t line = text ? text->find(kName) : std::string::npos;
  if (line == std::string::npos) return "";
  const size_t colon = text->find(": ", line), end = text->find('\n', line);
  return colon < end && end != std::string::npos ? text->substr(colon + 2, end - colon - 2) : "";
}

std::string digest_of_file(const std::string& path) {
  const sys::Result<sys::OwnedFd> file = sys::open(path, O_RDONLY);
  if (!file) return "";
  const sys::Result<std::string> digest = images::sha256_of_file(file->get());
  return digest ? "sha256:" + *digest : "";
}

Origin origin_of_host(const std::string& version) {
  Origin origin;
  origin.zygo = version;
  struct utsname names {};
  if (::uname(&names) == 0) {
    origin.kernel = std::string(names.sysname) + " " + names.release;
    origin.machine = names.machine;
  }
  if (const std::string name = processor(); !name.empty()) origin.machine += ", " + name;
  return origin;
}

}  // namespace

std::string HostConfig::identity_of(const TemplateSpec& spec) const {
  return spec.name + "@sha256:" + images::sha256_of(content_of(spec));
}

// The files of an image are known by its digest; those of the host are read.
Origin HostConfig::make_origin(const TemplateSpec& spec) const {
  Origin origin = origin_of_host(version_);
  origin.template_name = spec.name;
  origin.identity = identity_of(spec);
  origin.preloads = spec.preloads;
  if (!spec.setup_digest.empty()) origin.setup = "sha256:" + spec.setup_digest;
  const Toolchain none;
  const Toolchain& tools = spec.runtime ? toolchain_of(spec) : none;
  origin.interpreter = !spec.runtime ? python_ : tools.compile.empty() ? tools.run : tools.compile;
  if (imported_) {
    origin.image = imported_->digest;
  } else if (!origin.interpreter.empty()) {
    origin.interpreter_digest = digest_of_file(origin.interpreter);
  }
  return origin;
}

std::shared_ptr<const Origin> HostConfig::origin_of(const std::string& name) {
  const TemplateSpec* spec = find_template(name);
  if (spec == nullptr) return nullptr;
  const std::lock_guard lock(origins_mutex_);
  std::shared_ptr<const Origin>& known = origins_[spec->name];
  if (!known) known = std::make_shared<const Origin>(make_origin(*spec));
  return known;
}

}  // namespace runtime
