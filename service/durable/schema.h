#pragma once
// The file of a ledger: made or checked before it is used. Blocks on the disk.

#include <string>

#include "service/durable/database.h"

namespace service {

// Held for this process alone from then on. An error names the file and says what is wrong with it:
// damaged, of another version or another program, in use, not writable.
sys::Result<Database> open_ledger_file(const std::string& path);

}  // namespace service
