#include "tools/cli/judge/program.h"

#include <fmt/format.h>

#include <algorithm>

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

bool is_main(const std::string& name) {
  std::string stem = name.substr(0, name.rfind('.'));
  std::transform(stem.begin(), stem.end(), stem.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
  return stem == "main";
}

// The name of the main file among those that stand directly in the folder.
sys::Result<std::string> main_of(const std::string& path, const std::vector<std::string>& names) {
  if (names.empty())
    return sys::Error::because(path + ": no file has an extension of a known language");
  if (names.size() == 1) return names.front();
  std::vector<std::string> mains;
  std::copy_if(names.begin(), names.end(), std::back_inserter(mains), is_main);
  if (mains.size() == 1) return mains.front();
  return sys::Error::because(
      fmt::format("{}: {} and {} could each be the program; call one of them main.*", path,
                  names[0], names[1]));
}

sys::Result<SourceProgram> read_folder(const Folder& folder, const std::string& path,
                                       const std::vector<runtime::TemplateSpec>& known) {
  std::vector<std::string> candidates;
  for (const Folder::Entry& entry : TRY(folder.list(path))) {
    const bool script = entry.name == "build" || entry.name == "run";
    if (entry.kind == Folder::Kind::kFile && script)
      return sys::Error::because(joined(path, entry.name) +
                                 ": programs with build and run scripts are not supported yet");
    if (entry.kind == Folder::Kind::kFile && !language_of(entry.name, known).empty())
      candidates.push_back(entry.name);
  }
  const std::string main = TRY(main_of(path, candidates));
  SourceProgram program{path, language_of(main, known), "", {}};
  for (const std::string& file : TRY(folder.files_below(path, kMostFiles))) {
    std::string content = TRY(folder.read(file, kLargestFile));
    const std::string name = path.empty() ? file : file.substr(path.size() + 1);
    if (name == main) {
      program.source = std::move(content);
    } else {
      program.files.push_back({name, std::move(content), false});
    }
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
  return SourceProgram{path, language, TRY(folder.read(path, kLargestFile)), {}};
}

}  // namespace cli
