#pragma once
// Manual pages, made from the command line's own grammar: man(7) source, one page a command. They
// repeat no text by hand, so none can go stale. Pure.

#include <map>
#include <string>

namespace CLI {
class App;
}

namespace cli {

// The page of one command, or of the program.
std::string manual_page(const CLI::App& command, const std::string& version);

// All pages below `app` by the names of their files: "zygo.1", "zygo-image-import.1".
std::map<std::string, std::string> manual_pages(const CLI::App& app, const std::string& version);

}  // namespace cli
