#pragma once
// SessionCells: the steps of a kernel in a session of the service, of one client. The session ends
// with it. Loop thread only.

#include <functional>
#include <memory>
#include <string>

#include "service/apis/foreign_sessions.h"
#include "service/jupyter/cells.h"

namespace service::jupyter {

class SessionCells : public Cells {
 public:
  // The service outlives it.
  struct Parts {
    ForeignSessions& sessions;
    Dispatcher& dispatcher;
    runtime::Loop& loop;
    std::string client;
    std::string_view api;        // its name, for the records
    std::string beginning;       // the session's fields, as JSON
    std::function<void()> news;  // of a step; called on any thread, must not call back
  };
  explicit SessionCells(Parts parts);
  ~SessionCells() override;

  sys::Result<std::unique_ptr<CellRun>> start(CellOrder order) override;
  void forget(const std::string& node) override;

 private:
  class Step;
  class Run;
  struct House;

  const std::shared_ptr<House> house_;
};

}  // namespace service::jupyter
