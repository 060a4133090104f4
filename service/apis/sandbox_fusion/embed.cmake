# A C++ source of a text: cmake -DFILE=... -DFUNCTION=... -DHEADER=... -DOUTPUT=... -P embed.cmake
get_filename_component(name "${FILE}" NAME)
file(READ "${FILE}" text)
file(WRITE "${OUTPUT}" "// Made by embed.cmake from service/apis/sandbox_fusion/${name}.
#include \"${HEADER}\"

namespace service::sandbox_fusion {

std::string_view ${FUNCTION}() { return R\"zygo(${text})zygo\"; }

}  // namespace service::sandbox_fusion
")
