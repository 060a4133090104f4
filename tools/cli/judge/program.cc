#include "tools/cli/judge/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "runtime/builds/java_source.h"
#include "tools/cli/engine_setup.h"

namespace cli {
namespace {

constexpr size_t kMostFiles = 200;
constexpr sys::Bytes kLargestFile = sys::mebibytes(16);

// Python's templates have no runtime that names an extension.
std::string language_of(const std::string& path, const std::vector<runtime::TemplateSpec>& known) {
  if (path.ends_with(".py") || path.ends_with(".py3")) return "python";
  return template_for_file(path, known);
}

// Returns null for a template that is no runtime's (Python).
const runtime::RuntimeSpec* runtime_of(const std::string& language,
                                       const std::vector<runtime::TemplateSpec>& known) {
  for (const runtime::TemplateSpec& spec : known) {
    if (spec.name == language) return spec.runtime.get();
  }
  return nullptr;
}

bool is_called(const std::string& name, std::string_view wanted) {
  std::string stem = name.substr(0, name.rfind('.'));
  std::transform(stem.begin(), stem.end(), stem.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
  return stem == wanted;
}

// Tells whether it makes no difference which of the files counts as the first.
bool begin_anywhere(const std::vector<std::string>& names,
                    const std::vector<runtime::TemplateSpec>& known) {
  const std::string language = language_of(names.front(), known);
  const runtime::RuntimeSpec* spec = runtime_of(language, known);
  return spec != nullptr && spec->takes_sources() && spec->runs_artefact() &&
         std::all_of(names.begin(), names.end(),
                     [&](const std::string& name) { return language_of(name, known) == language; });
}

// The one of several classes of Java that has main; none: there are none or two of them.
sys::Result<std::optional<std::string>> class_with_main(
    const Folder& folder, const std::string& path, const std::vector<std::string>& names,
    const std::vector<runtime::TemplateSpec>& known) {
  std::vector<std::string> found;
  for (const std::string& name : names) {
    const runtime::RuntimeSpec* spec = runtime_of(language_of(name, known), known);
    if (!spec || !spec->finds_class) return std::optional<std::string>();
    const std::string source = TRY(folder.read(joined(path, name), kLargestFile));
    if (runtime::java_program_in(source).has_main) found.push_back(name);
  }
  return found.size() == 1 ? std::optional(found.front()) : std::nullopt;
}

// The name of the main file among those that stand directly in the folder.
sys::Result<std::string> main_of(const Folder& folder, const std::string& path,
                                 const std::vector<std::string>& names,
                                 const std::vector<runtime::TemplateSpec>& known) {
  if (names.empty())
    return sys::Error::because(path + ": no file has an extension of a known language");
  if (names.size() == 1) return names.front();
  for (const std::string_view wanted : {"main", "__main__"}) {
    std::vector<std::string> mains;
    std::copy_if(names.begin(), names.end(), std::back_inserter(mains),
                 [wanted](const std::string& name) { return is_called(name, wanted); });
    if (mains.size() == 1) return mains.front();
    if (mains.size() > 1)
      return sys::Error::because(
          fmt::format("{}: {} and {} could each be the program", path, mains[0], mains[1]));
  }
  if (begin_anywhere(names, known)) return names.front();
  if (const auto found = TRY(class_with_main(folder, path, names, known))) return *found;
  return sys::Error::because(
      fmt::format("{}: {} and {} could each be the program; call one of them main.*", path,
                  names[0], names[1]));
}

struct MainFile {
  std::string name, language;
};

// Which file of the folder is the source, and of what. With the scripts of the format, `build` is,
// or nothing where there is only `run`; a main.sh is executed as it stands.
sys::Result<MainFile> main_file_of(const Folder& folder, const std::string& path,
                                   const std::vector<runtime::TemplateSpec>& known) {
  constexpr const char* kScripts = "build-and-run";
  constexpr const char* kExecuted = "bash-executed";
  std::vector<std::string> candidates;
  bool has_build = false, has_run = false;
  for (const Folder::Entry& entry : TRY(folder.list(path))) {
    if (entry.kind != Folder::Kind::kFile) continue;
    has_build = has_build || entry.name == "build";
    has_run = has_run || entry.name == "run";
    if (!language_of(entry.name, known).empty()) candidates.push_back(entry.name);
  }
  if (has_build || has_run) return MainFile{has_build ? "build" : "", kScripts};
  MainFile made{TRY(main_of(folder, path, candidates, known)), ""};
  made.language = language_of(made.name, known);
  if (made.name == "main.sh" && runtime_of(kExecuted, known) != nullptr) made.language = kExecuted;
  return made;
}

sys::Result<SourceProgram> read_folder(const Folder& folder, const std::string& path,
                                       const std::vector<runtime::TemplateSpec>& known) {
  const MainFile main = TRY(main_file_of(folder, path, known));
  SourceProgram program{path, main.language, "", {}, {}};
  const runtime::RuntimeSpec* spec = runtime_of(program.template_name, known);
  const bool takes_sources = spec != nullptr && spec->takes_sources();
  for (const std::string& file : TRY(folder.files_below(path, kMostFiles))) {
    std::string content = TRY(folder.read(file, kLargestFile));
    const std::string name = path.empty() ? file : file.substr(path.size() + 1);
    if (name == main.name) {
      program.source = std::move(content);
      continue;
    }
    if (takes_sources && language_of(name, known) == program.template_name)
      program.sources.push_back(name);
    program.files.push_back({name, std::move(content), TRY(folder.is_executable(file))});
  }
  return program;
}

}  // namespace

sys::Result<SourceProgram> read_program(const Folder& folder, const std::string& path,
                                        const std::vector<runtime::TemplateSpec>& known) {
  switch (TRY(folder.kind_of(path))) {
    case Folder::Kind::kNothing:
      return sys::Error::from_errno(path, ENOENT);
    case Folder::Kind::kFolder:
      return read_folder(folder, path, known);
    case Folder::Kind::kFile:
      break;
  }
  const std::string language = language_of(path, known);
  if (language.empty())
    return sys::Error::because(path + ": no language has this extension (zygo runtime list)");
  return SourceProgram{path, language, TRY(folder.read(path, kLargestFile)), {}, {}};
}

}  // namespace cli
