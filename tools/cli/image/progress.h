#pragma once
// The progress of an import on stderr: a bar on a terminal, a line every few seconds elsewhere. The
// formatting is pure; ImportProgress decides when, with time as an argument.

#include <optional>
#include <string>

#include "images/progress.h"
#include "sandbox/sys/units.h"
#include "tools/cli/options.h"
#include "tools/cli/signals.h"

namespace cli {

// "[=====>    ] unpacking  120 MiB of 480 MiB  25 %  52 MiB/s  ETA 0:07", at most `width`; without
// a total "copying  120 MiB  52 MiB/s". `rate` is bytes a second, 0 when not known.
std::string import_bar(const images::Milestone& now, double rate, size_t width);
// "unpacking 120 MiB of 480 MiB (25 %)"
std::string import_line(const images::Milestone& now);

class ImportProgress {
 public:
  enum class Kind : uint8_t { kNone, kLines, kBar };
  // `who` begins each line: "zygo image import".
  ImportProgress(Kind kind, int fd, std::string_view who) : kind_(kind), fd_(fd), who_(who) {}

  void tick(sys::Nanoseconds now, const images::Milestone& milestone);
  void clear();  // takes the bar away

 private:
  Kind kind_;
  int fd_;
  std::string who_;
  std::optional<sys::Nanoseconds> last_, work_began_;
  std::string work_;
  bool drawn_ = false;
};

// On stderr: a bar where it is a terminal, nothing with --quiet.
ImportProgress progress_for(const CommonOptions& common, std::string_view who);
// Feeds it, and ends the work once `stop` (null: nothing does) came. Borrows both.
images::Watch watch_of(ImportProgress& progress, const StopSignals* stop);

}  // namespace cli
