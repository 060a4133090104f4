#pragma once
// GoJudgeApi: go-judge's API over the dispatcher: /run, /ws, /stream, /file, /version, /config.
// Owns the files that its clients keep here, which end with it. Loop thread only; what runs
// elsewhere holds what it needs.

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "service/apis/api.h"
#include "service/apis/file_store.h"
#include "service/apis/go_judge/go_judge.h"
#include "service/apis/go_judge/local_files.h"
#include "service/apis/go_judge/socket.h"

namespace service {

class GoJudgeApi : public Api {
 public:
  struct Options {
    FileStore::Limits store;
    std::shared_ptr<const LocalFiles> local;  // none: no request may name a path of this host
  };
  static constexpr std::string_view kName = go_judge::kApiName;
  GoJudgeApi(const ApiContext& context, Options options);

  Routes routes() override;
  // /ws takes no new requests; its clients are told when their earlier ones are answered.
  void begin_end() override;

 private:
  using Read = GoJudgeSocket::Read;
  using Errand = GoJudgeSocket::Errand;
  bool is_refused(const ExchangePtr& exchange) const;  // since the service ends
  void open_socket(const ExchangePtr& exchange);
  void open_stream(const ExchangePtr& exchange);
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
  const ApiContext context_;
  const std::shared_ptr<const LocalFiles> local_;
  const std::shared_ptr<FileStore> store_;
  std::set<std::shared_ptr<GoJudgeSocket>> sockets_;
};

}  // namespace service
