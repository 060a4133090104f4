# A C++ source of a text: cmake -DFILE=... -DFUNCTION=... -DHEADER=... -DOUTPUT=... -P embed.cmake
get_filename_component(name "${FILE}" NAME)
file(READ "${FILE}" text)
file(WRITE "${OUTPUT}" "// Made by embed.cmake from service/apis/${name}.
#include \"${HEADER}\"

namespace service {

std::string_view ${FUNCTION}() { return R\"zygo(${text})zygo\"; }

}  // namespace service
")
