# Makes a C++ source of the files of the page: cmake -DFOLDER=... -DOUTPUT=... -P embed.cmake
file(GLOB files ${FOLDER}/*.html ${FOLDER}/*.css ${FOLDER}/*.js ${FOLDER}/*.svg)
list(SORT files)
set(html "text/html; charset=utf-8")
set(css "text/css; charset=utf-8")
set(js "text/javascript; charset=utf-8")
set(svg "image/svg+xml")
set(entries "")
foreach(file IN LISTS files)
  get_filename_component(name "${file}" NAME)
  string(REGEX REPLACE ".*\\." "" ending "${name}")
  set(path "/page/${name}")
  if(name STREQUAL "index.html")
    set(path "/")
  endif()
  file(READ "${file}" text)
  file(SHA256 "${file}" digest)
  string(SUBSTRING "${digest}" 0 20 tag)
  string(APPEND entries "    {\"${path}\", \"${${ending}}\", \"\\\"${tag}\\\"\", R\"zygo(${text})zygo\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Made by embed.cmake from service/page.
#include \"service/page.h\"

namespace service {

std::span<const PageFile> page_files() {
  static constexpr PageFile kFiles[] = {
${entries}  };
  return kFiles;
}

}  // namespace service
")
