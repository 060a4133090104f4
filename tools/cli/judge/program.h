#pragma once
// A program of a package, or one beside it: a source in a language, with the files that belong to
// it. Submissions and validators are both read so.

#include <string>
#include <vector>

#include "runtime/engine.h"
#include "tools/cli/judge/folder.h"

namespace cli {

struct SourceProgram {
  std::string path;  // as it was asked for
  std::string template_name;
  std::string source;
  std::vector<runtime::InputFile> files;  // beside it, when a folder was given
};

// A single file; or a folder, whose program is its only file of a known extension, or the one
// called main.*. The extension tells the language. `known`: the templates there are.
sys::Result<SourceProgram> read_program(const Folder& folder, const std::string& path,
                                        const std::vector<runtime::TemplateSpec>& known);

}  // namespace cli
