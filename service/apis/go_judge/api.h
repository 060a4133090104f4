#pragma once
// GoJudgeApi: go-judge's API over the dispatcher: /run, /ws, /stream, /file, /version, /config.
// Owns the files that its clients keep here, which end with it. Loop thread only; what runs
// elsewhere holds what it needs.

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "runtime/loop/loop.h"
#include "service/admission/dispatcher.h"
#include "service/apis/go_judge/file_store.h"
#include "service/apis/go_judge/go_judge.h"
#include "service/apis/go_judge/local_files.h"
#include "service/apis/go_judge/socket.h"
#include "service/http/exchange.h"
#include "service/router.h"
#include "service/session_protocol.h"

namespace service {

class GoJudgeApi {
 public:
  struct Options {
    FileStore::Limits store;
    std::shared_ptr<const LocalFiles> local;  // none: no request may name a path of this host
  };
  struct Parts {
    Dispatcher& dispatcher;
    runtime::Loop& loop;
    sandbox::Layers layers;  // in force
    const runtime::JobDefaults& defaults;
    std::string version;
    uint64_t most = 0;           // bytes that a request may grow to with the files that it names
    bool files_by_name = false;  // each client's files are its own; else they are everybody's
    Deadlines& deadlines;
    Allowance& held;
    WebSocket::Limits websocket;
  };
  GoJudgeApi(Parts parts, Options options);

  void perform(const ExchangePtr& exchange, Endpoint endpoint, const std::string& parameter);
  // What is said over one connection of /stream, whose request comes within `patience`.
  std::unique_ptr<SessionProtocol> stream(const Exchange& exchange,
                                          sys::Milliseconds patience) const;
  // Nothing new is taken by /ws; its clients are told when what they have sent is answered.
  void begin_end();

 private:
  using Read = GoJudgeSocket::Read;
  using Errand = GoJudgeSocket::Errand;
  void open_socket(const ExchangePtr& exchange);
  void run(const ExchangePtr& exchange);
  go_judge::Places places_for(const std::string& owner) const;
  go_judge::Keep keep_for(const std::string& owner) const;
  void submit(const ExchangePtr& exchange, go_judge::Request request);
  std::optional<Dispatcher::Ticket> submit(go_judge::Request request, Errand errand);
  void add_file(const ExchangePtr& exchange);
  Response list_files(const std::string& owner);
  Response file(const Exchange& exchange, const std::string& owner, const std::string& id);
  std::string owner_of(const Exchange& exchange) const;

  const std::shared_ptr<GoJudgeApi*> self_ = std::make_shared<GoJudgeApi*>(this);
  const Parts parts_;
  const std::shared_ptr<const LocalFiles> local_;
  const std::shared_ptr<FileStore> store_;
  std::set<std::shared_ptr<GoJudgeSocket>> sockets_;
};

}  // namespace service
