# Makes a C++ source of the files below FOLDER: cmake -DFOLDER=... -DOUTPUT=... -P embed.cmake
file(GLOB_RECURSE files RELATIVE ${FOLDER} ${FOLDER}/*)
list(SORT files)
set(entries "")
foreach(each IN LISTS files)
  file(READ "${FOLDER}/${each}" text)
  string(APPEND entries "    {\"${each}\", R\"example(${text})example\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Made by embed.cmake from tools/cli/init/examples.
#include \"tools/cli/init/example_files.h\"

namespace cli {

std::span<const ExampleFile> example_files() {
  static constexpr ExampleFile kFiles[] = {
${entries}  };
  return kFiles;
}

}  // namespace cli
")
