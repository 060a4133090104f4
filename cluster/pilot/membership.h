#pragma once
// Membership: what makes a service a pilot: its enrolments with routers, for which it runs jobs on
// the service's engine. It lives in the service as an API without routes. Loop thread only.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cluster/pilot/enrolment.h"
#include "runtime/engine/engine.h"
#include "service/apis/api.h"

namespace cluster {

class Membership : public service::Api {
 public:
  struct Router {
    std::string address;                              // for people
    std::function<sys::Result<sys::OwnedFd>()> dial;  // on another thread
    std::function<sys::Result<std::unique_ptr<Link>>(sys::OwnedFd, LinkListener&)> link;
  };
  struct Options {
    std::vector<Router> routers;
    Hello hello;  // but for the facts of the engine
  };
  Membership(const service::ApiContext& context, runtime::Engine& engine, Options options);

  service::Routes routes() override { return {}; }
  void begin_end() override;
  bool is_busy() const override;

 private:
  Enrolment::House house_for(const Router& router);
  Hello hello() const;
  Status status() const;
  size_t jobs() const;
  bool has_room() const;
  void note(const runtime::JobResult& result);

  const service::ApiContext context_;
  runtime::Engine& engine_;
  const Options options_;
  double mean_us_ = 0;
  std::vector<std::unique_ptr<Enrolment>> enrolments_;
};

}  // namespace cluster
