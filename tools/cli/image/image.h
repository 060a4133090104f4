#pragma once
// `zygo image import|pack|list|inspect|remove`: the images of this host. Needs no engine.
// Exit codes: 0; 2 when the name, or the file it is imported from, will not do; 125 when the host
// says no (a full disk, no permission); 130 interrupted.

#include <string>
#include <vector>

#include "images/store.h"
#include "tools/cli/engine_setup.h"
#include "tools/cli/options.h"

namespace cli {

int image_import_command(const CommandLine& line, const Parts& parts);
int image_pack_command(const CommandLine& line, const Parts& parts);
int image_list_command(const CommandLine& line);
int image_inspect_command(const CommandLine& line);
int image_remove_command(const CommandLine& line);

std::string image_table(const std::vector<images::Image>& known);
std::string image_details(const images::Image& image);
std::string image_json(const images::Image& image);
std::string images_json(const std::vector<images::Image>& known);

}  // namespace cli
