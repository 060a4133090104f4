#pragma once
// The screen of `zygo top`: statistics as lines that fit a terminal. Pure.

#include <string>
#include <vector>

#include "tools/cli/text.h"
#include "tools/cli/top/top_stats.h"

namespace cli {

struct ScreenSize {
  size_t columns = 80, rows = 24;
};

// At most so many lines of at most so many characters each, whatever the statistics say. `where` is
// the service's address, `trouble` why it cannot be reached just now (empty: it can).
std::vector<std::string> top_screen(const TopStats& stats, const std::string& where,
                                    const std::string& trouble, ScreenSize size,
                                    const Style& style);

// For what is no terminal: a heading, and a line for each look. Those of a router end with its
// pilots.
std::string top_heading(const TopStats& first);
std::string top_line(const TopStats& stats);

// "950 us", "12.3 ms", "4.56 s": at most seven characters up to hours.
std::string short_time(int64_t us);

}  // namespace cli
