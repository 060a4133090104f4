# Makes a C++ source of the modules in FOLDER: cmake -DFOLDER=... -DOUTPUT=... -P embed.cmake
file(GLOB modules ${FOLDER}/*.py)
list(SORT modules)
set(entries "")
foreach(module IN LISTS modules)
  get_filename_component(name "${module}" NAME_WE)
  file(READ "${module}" text)
  string(APPEND entries "    {\"${name}\", R\"module(${text})module\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Made by embed.cmake from service/jupyter/prelude.
#include \"service/jupyter/prelude.h\"

namespace service::jupyter {

std::span<const PreludeModule> prelude_modules() {
  static constexpr PreludeModule kModules[] = {
${entries}  };
  return kModules;
}

}  // namespace service::jupyter
")
