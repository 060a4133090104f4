#pragma once
// Cancellation: ends tasks whose callers withdraw them, wherever they are: in the queue, waiting
// for a template, a cell or the state of a node, running. On the scheduler's thread.

#include "runtime/scheduler/admission/admission_queue.h"
#include "runtime/scheduler/node_turns.h"
#include "runtime/scheduler/pools/cell_pool.h"
#include "runtime/scheduler/pools/template_pool.h"
#include "runtime/scheduler/replies.h"
#include "runtime/scheduler/retrial.h"

namespace runtime {

class Cancellation {
 public:
  Cancellation(AdmissionQueue& admission, Replies& replies, TemplatePool& templates,
               CellPool& cells, Retrial& retrial, NodeTurns& turns)
      : admission_(admission),
        replies_(replies),
        templates_(templates),
        cells_(cells),
        retrial_(retrial),
        turns_(turns) {}

  void drop_all();
  // A task that waits for a compiler is looked at when it comes back and is placed.
  void drop_withdrawn();

 private:
  AdmissionQueue& admission_;
  Replies& replies_;
  TemplatePool& templates_;
  CellPool& cells_;
  Retrial& retrial_;
  NodeTurns& turns_;
};

}  // namespace runtime
