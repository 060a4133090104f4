# Makes a C++ source of the tasks, variants and exploits in FOLDER: cmake -DFOLDER=... -DOUTPUT=... -P embed.cmake
set(entries "")
foreach(kind helpers tasks variants exploits)
  file(GLOB files ${FOLDER}/${kind}/*.py)
  list(SORT files)
  foreach(each IN LISTS files)
    get_filename_component(name "${each}" NAME_WE)
    file(READ "${each}" text)
    string(APPEND entries "    {\"${kind}\", \"${name}\", R\"program(${text})program\"},\n")
  endforeach()
endforeach()
file(WRITE "${OUTPUT}" "// Made by embed.cmake from tools/cli/certify/grader.
#include \"tools/cli/certify/grader/corpus_files.h\"

namespace cli {

std::span<const GraderFile> grader_files() {
  static constexpr GraderFile kFiles[] = {
${entries}  };
  return kFiles;
}

}  // namespace cli
")
