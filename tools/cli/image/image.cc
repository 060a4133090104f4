#include "tools/cli/image/image.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "images/pack.h"
#include "sandbox/sys/file.h"
#include "tools/cli/image/progress.h"
#include "tools/cli/text.h"
#include "tools/cli/units.h"

namespace cli {
namespace {

using nlohmann::ordered_json;

constexpr size_t kShortDigest = 12;  // digits

// An error without an errno is about the image; one with an errno is about the host, unless it is
// about the file that the command line names.
Refusal refusal_of(const sys::Error& error) {
  return {error.text(), error.code() == 0 ? kExitUsage : kExitSandbox, Lines::kEscape};
}

std::string shown(const std::string& text) { return escape_controls(text, Lines::kEscape); }

std::string shown(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  for (const std::string& word : words) {
    const bool plain = !word.empty() && word.find_first_of(" \t\n\"'\\$") == std::string::npos;
    quoted.push_back(plain ? shown(word)
                           : ordered_json(shown(word))
                                 .dump(-1, ' ', false, ordered_json::error_handler_t::replace));
  }
  return fmt::format("{}", fmt::join(quoted, " "));
}

ordered_json json_of(const images::PythonEnvironment& python) {
  return {{"interpreter", python.interpreter},
          {"directories", python.directories},
          {"needs", python.needs}};
}

ordered_json json_of(const images::Image& image) {
  ordered_json config = {{"environment", image.config.environment},
                         {"working_directory", image.config.working_directory},
                         {"user", image.config.user},
                         {"entrypoint", image.config.entrypoint},
                         {"command", image.config.command}};
  if (image.config.python) config["python"] = json_of(*image.config.python);
  return {{"name", image.name},         {"digest", image.digest},     {"rootfs", image.rootfs},
          {"bytes", image.bytes},       {"entries", image.entries},   {"source", image.source},
          {"imported", image.imported}, {"config", std::move(config)}};
}

ordered_json json_of(const images::Packed& packed, const std::string& output) {
  return {{"output", output},
          {"digest", packed.digest},
          {"bytes", packed.bytes},
          {"entries", packed.entries},
          {"archive_bytes", packed.archive_bytes},
          {"python", json_of(packed.python)}};
}

std::string summary_of(const images::Packed& packed, const std::string& output) {
  std::vector<std::string> needs;
  for (const auto& each : packed.python.needs) needs.push_back(each.first);
  return fmt::format(
      "{}: {} entries, {}, packed {}{}", shown(output), packed.entries, format_size(packed.bytes),
      format_size(packed.archive_bytes),
      needs.empty() ? ""
                    : "; of the host it needs " + shown(fmt::format("{}", fmt::join(needs, ", "))));
}

std::string text_of(const ordered_json& json) {
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

std::string short_digest(const images::Image& image) {
  return image.digest.substr(image.digest.find(':') + 1, kShortDigest);
}

void announce(const images::Imported& imported, const CommonOptions& common) {
  const images::Image& image = imported.image;
  if (common.json) {
    ordered_json json = json_of(image);
    json["skipped"] = imported.skipped;
    json["stored_before"] = imported.stored_before;
    say(text_of(json));
    return;
  }
  if (common.quiet) return;
  std::string text = fmt::format("{}: {}, {} entries, {}", image.name, short_digest(image),
                                 image.entries, format_size(image.bytes));
  if (imported.stored_before) text += "; the same content was there already";
  if (imported.skipped > 0)
    text += fmt::format("; {} devices, fifos and sockets left out", imported.skipped);
  say(text);
}

}  // namespace

std::string image_table(const std::vector<images::Image>& known) {
  size_t name = 5, size = 4;
  for (const images::Image& each : known) {
    name = std::max(name, columns_of(each.name));
    size = std::max(size, columns_of(format_size(each.bytes)));
  }
  std::string text = fmt::format("{:<{}}  {:<12}  {:>{}}  {:<20}  {}", "image", name, "digest",
                                 "size", size, "imported", "from");
  for (const images::Image& each : known) {
    text += fmt::format("\n{:<{}}  {:<12}  {:>{}}  {:<20}  {}", shown(each.name), name,
                        short_digest(each), format_size(each.bytes), size, shown(each.imported),
                        shown(each.source));
  }
  return text;
}

std::string image_details(const images::Image& image) {
  std::string text;
  auto row = [&text](std::string_view what, const std::string& value) {
    text += fmt::format("{}{:<18}  {}", text.empty() ? "" : "\n", what, value);
  };
  row("name", shown(image.name));
  row("digest", image.digest);
  row("rootfs", shown(image.rootfs));
  row("size", fmt::format("{} in {} entries", format_size(image.bytes), image.entries));
  row("imported", shown(image.imported));
  row("from", shown(image.source));
  row("working directory", shown(image.config.working_directory));
  row("user", shown(image.config.user));
  row("entrypoint", shown(image.config.entrypoint));
  row("command", shown(image.config.command));
  for (const std::string& each : image.config.environment) row("environment", shown(each));
  if (image.config.python) row("python", shown(image.config.python->interpreter));
  return text;
}

std::string image_json(const images::Image& image) { return text_of(json_of(image)); }

std::string images_json(const std::vector<images::Image>& known) {
  ordered_json list = ordered_json::array();
  for (const images::Image& each : known) list.push_back(json_of(each));
  return text_of(list);
}

int image_import_command(const CommandLine& line, const Parts& parts) {
  constexpr std::string_view kCommand = "image import";
  auto root = images::Store::default_root();
  if (!root) return refuse(kCommand, refusal_of(root.error()));
  if (::access(line.image.path.c_str(), R_OK) < 0)
    return refuse(kCommand, {sys::Error::from_errno(line.image.path).text(), kExitUsage});

  ImportProgress progress = progress_for(line.common, fmt::format("zygo {}", kCommand));
  auto imported =
      images::Store(*root).import(line.image.name, line.image.path, watch_of(progress, parts.stop));
  progress.clear();
  if (!imported && imported.error().code() == ECANCELED)
    return refuse(kCommand, {"interrupted; nothing was imported", kExitInterrupted});
  if (!imported) return refuse(kCommand, refusal_of(imported.error()));
  announce(*imported, line.common);
  return kExitOk;
}

int image_pack_command(const CommandLine& line, const Parts& parts) {
  constexpr std::string_view kCommand = "image pack";
  auto root = images::Store::default_root();
  if (!root) return refuse(kCommand, refusal_of(root.error()));
  const bool venv = !line.image.venv.empty();
  auto python = images::describe_environment(
      venv ? line.image.venv : line.image.conda,
      venv ? images::EnvironmentKind::kVenv : images::EnvironmentKind::kConda);
  if (!python) return refuse(kCommand, refusal_of(python.error()));
  ImportProgress progress = progress_for(line.common, fmt::format("zygo {}", kCommand));
  auto packed =
      images::pack_environment(*root, *python, line.image.output, watch_of(progress, parts.stop));
  progress.clear();
  if (!packed && packed.error().code() == ECANCELED)
    return refuse(kCommand, {"interrupted; nothing was written", kExitInterrupted});
  if (!packed) return refuse(kCommand, refusal_of(packed.error()));
  if (line.common.json) return say(text_of(json_of(*packed, line.image.output)));
  if (!line.common.quiet) say(summary_of(*packed, line.image.output));
  return kExitOk;
}

int image_list_command(const CommandLine& line) {
  auto root = images::Store::default_root();
  if (!root) return refuse("image list", refusal_of(root.error()));
  auto known = images::Store(*root).list();
  if (!known) return refuse("image list", refusal_of(known.error()));
  return say(line.common.json ? images_json(*known) : image_table(*known));
}

int image_inspect_command(const CommandLine& line) {
  auto root = images::Store::default_root();
  if (!root) return refuse("image inspect", refusal_of(root.error()));
  auto image = images::Store(*root).find(line.image.name);
  if (!image) return refuse("image inspect", refusal_of(image.error()));
  return say(line.common.json ? image_json(*image) : image_details(*image));
}

int image_remove_command(const CommandLine& line) {
  auto root = images::Store::default_root();
  if (!root) return refuse("image remove", refusal_of(root.error()));
  auto removed = images::Store(*root).remove(line.image.name);
  if (!removed) return refuse("image remove", refusal_of(removed.error()));
  if (line.common.json) return say(text_of(ordered_json{{"removed", line.image.name}}));
  return kExitOk;
}

}  // namespace cli
