# Makes a C++ source of the files of the page:
#   cmake -DFOLDER=... -DCODEMIRROR=... -DOUTPUT=... -P embed.cmake
# CODEMIRROR is the folder of Debian's libjs-codemirror. Of it come the editor, the modes of the
# languages that zygo has, one script and one style sheet, and what its licence wants to be told.
# Where it lacks a file, or is no folder at all, both are there and empty: the page does without.
set(html "text/html; charset=utf-8")
set(css "text/css; charset=utf-8")
set(js "text/javascript; charset=utf-8")
set(svg "image/svg+xml")
set(txt "text/plain; charset=utf-8")
set(entries "")

function(embed path text)
  string(REGEX REPLACE ".*\\." "" ending "${path}")
  if(path STREQUAL "/")
    set(ending html)
  endif()
  string(SHA256 digest "${text}")
  string(SUBSTRING "${digest}" 0 20 tag)
  string(APPEND entries
    "    {\"${path}\", \"${${ending}}\", \"\\\"${tag}\\\"\", R\"zygo(${text})zygo\"sv},\n")
  set(entries "${entries}" PARENT_SCOPE)
endfunction()

file(GLOB files ${FOLDER}/*.html ${FOLDER}/*.css ${FOLDER}/*.js ${FOLDER}/*.svg)
list(SORT files)
foreach(file IN LISTS files)
  get_filename_component(name "${file}" NAME)
  set(path "/page/${name}")
  if(name STREQUAL "index.html")
    set(path "/")
  endif()
  file(READ "${file}" text)
  embed("${path}" "${text}")
endforeach()

# Modes come after those that they are made of: PHP of HTML, that of XML, CSS and JavaScript.
set(parts lib/codemirror addon/mode/simple addon/edit/matchbrackets)
foreach(mode clike css go htmlmixed javascript lua perl php python r ruby rust shell xml)
  list(APPEND parts mode/${mode}/${mode})
endforeach()
set(script "")
set(style "")
set(licence "")
set(missing "")
foreach(part IN LISTS parts)
  if(EXISTS "${CODEMIRROR}/${part}.js")
    file(READ "${CODEMIRROR}/${part}.js" text)
    string(APPEND script "${text}\n")
  else()
    list(APPEND missing ${part}.js)
  endif()
endforeach()
if(EXISTS "${CODEMIRROR}/lib/codemirror.css")
  file(READ "${CODEMIRROR}/lib/codemirror.css" style)
else()
  list(APPEND missing lib/codemirror.css)
endif()
if(missing)
  message(STATUS "The page has a plain text field for programs: no ${missing} (libjs-codemirror)")
  set(script "// This zygo was built without CodeMirror.\n")
  set(style "/* This zygo was built without CodeMirror. */\n")
elseif(EXISTS /usr/share/doc/libjs-codemirror/copyright)
  file(READ /usr/share/doc/libjs-codemirror/copyright licence)
endif()
embed("/page/codemirror.js" "${script}")
embed("/page/codemirror.css" "${style}")
embed("/page/codemirror.txt" "${licence}")

file(WRITE "${OUTPUT}" "// Made by embed.cmake from service/page.
#include \"service/page/page.h\"

namespace service {

std::span<const PageFile> page_files() {
  using std::string_view_literals::operator\"\"sv;  // knows the length of a text without a look at it
  static constexpr PageFile kFiles[] = {
${entries}  };
  return kFiles;
}

}  // namespace service
")
