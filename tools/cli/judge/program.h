#pragma once
// A program of a package, or one beside it: a source in a language, with the files that belong to
// it. Submissions and validators are both read in this way.

#include <string>
#include <vector>

#include "runtime/engine/engine.h"
#include "tools/cli/judge/package/folder.h"

namespace cli {

struct SourceProgram {
  std::string path;  // as it was asked for
  std::string template_name;
  std::string source;
  std::vector<runtime::InputFile> files;  // beside it, when a folder was given
  std::vector<std::string> sources;       // of them: those that are compiled, too
};

// A single file; or a folder: one program, of all of its files. The extension tells the language.
// It begins in the file called main.* (or __main__.py), or in the only one there is; where a linker
// finds the beginning, anywhere. All files of that language are compiled, where it compiles
// several. A folder with `build` or `run` is made and started by these scripts, one with main.sh by
// that file's own first line. `known`: the templates there are.
sys::Result<SourceProgram> read_program(const Folder& folder, const std::string& path,
                                        const std::vector<runtime::TemplateSpec>& known);

}  // namespace cli
