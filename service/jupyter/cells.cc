#include "service/jupyter/cells.h"

#include <utility>

namespace service::jupyter {

CellEnd end_of(const runtime::JobResult& result, std::string verdict) {
  CellEnd end;
  end.label = result.verdict.label();
  end.verdict = std::move(verdict);
  end.is_fine = result.verdict.ok();
  end.is_cancelled = result.verdict.outcome == runtime::Outcome::kCancelled;
  end.exception = result.exception;
  if (!result.step) return end;
  if (result.step->kept) end.node = result.step->node;
  end.why_not = result.step->why_not;
  return end;
}

}  // namespace service::jupyter
