# Makes a C++ source of the programs in FOLDER and FOLDER/attempts: cmake -DFOLDER=... -DOUTPUT=... -P embed.cmake
file(GLOB programs ${FOLDER}/*.py ${FOLDER}/attempts/*.py)
list(SORT programs)
set(entries "")
foreach(program IN LISTS programs)
  get_filename_component(name "${program}" NAME_WE)
  file(READ "${program}" text)
  string(APPEND entries "    {\"${name}\", R\"program(${text})program\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Made by embed.cmake from tools/cli/selfcheck.
#include \"tools/cli/selfcheck/attempt.h\"

namespace cli {

std::span<const EmbeddedProgram> selfcheck_programs() {
  static constexpr EmbeddedProgram kPrograms[] = {
${entries}  };
  return kPrograms;
}

}  // namespace cli
")
