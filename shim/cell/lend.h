#pragma once
// Whether a cell's jobs borrow their memory, and the rights of the holder that they borrow it from.

#include "shim/cell/confine.h"

namespace shim {

// Leaves a holder in the cell, or none: then its jobs are forked. `filter`: as of load_filter().
void make_holder(const Setup& setup, const CellOrder& order, int filter, Cell& cell);

}  // namespace shim
