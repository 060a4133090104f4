#include "service/apis/native/facts_api.h"

#include <nlohmann/json.hpp>

#include "service/apis/native/native_api.h"
#include "service/sessions/session_schemas.h"

namespace service {

namespace {

using nlohmann::ordered_json;

ordered_json names_of(sandbox::Layers layers) {
  ordered_json names = ordered_json::array();
  for (unsigned i = 0; i < sandbox::kLayerCount; ++i) {
    const auto layer = static_cast<sandbox::Layer>(i);
    if (layers.has(layer)) names.push_back(sandbox::name_of(layer));
  }
  return names;
}

Response fine() { return {.body = "{\"ok\":true}\n"}; }

}  // namespace

const Operations<FactsApi>& FactsApi::operations() {
  static const Operations<FactsApi> all = {
      {{.method = Method::kGet,
        .pattern = "/v1/runtimes",
        .scope = Scope::kInfo,
        .summary = "The languages.",
        .takes = "",
        .gives = kJson,
        .statuses = {200},
        .head = Description::Head::kLikeGet},
       &FactsApi::get_runtimes},
      {{.method = Method::kGet,
        .pattern = "/v1/templates",
        .scope = Scope::kInfo,
        .summary = "The warm interpreters and what they preload.",
        .takes = "",
        .gives = kJson,
        .statuses = {200},
        .head = Description::Head::kLikeGet},
       &FactsApi::get_templates},
      {{.method = Method::kGet,
        .pattern = "/v1/info",
        .scope = Scope::kInfo,
        .summary = "Version, level, the layers in force, limits.",
        .takes = "",
        .gives = kJson,
        .statuses = {200},
        .head = Description::Head::kLikeGet},
       &FactsApi::get_info},
      {{.method = Method::kGet,
        .pattern = "/healthz",
        .scope = Scope::kOpen,
        .summary = "The service answers.",
        .takes = "",
        .gives = kJson,
        .statuses = {200},
        .head = Description::Head::kLikeGet,
        .probe = Probe::kYes},
       &FactsApi::get_health},
      {{.method = Method::kGet,
        .pattern = "/readyz",
        .scope = Scope::kOpen,
        .summary = "The default template is warm, and the service is not ending.",
        .takes = "",
        .gives = kJson,
        .statuses = {200},
        .head = Description::Head::kLikeGet,
        .probe = Probe::kYes},
       &FactsApi::get_ready},
      {{.method = Method::kGet,
        .pattern = "/metrics",
        .scope = Scope::kMetrics,
        .summary = "Prometheus text.",
        .takes = "",
        .gives = "text/plain",
        .statuses = {200},
        .head = Description::Head::kLikeGet},
       &FactsApi::get_metrics},
      {{.method = Method::kGet,
        .pattern = "/v1/stats",
        .scope = Scope::kMetrics,
        .summary =
            "What the page and zygo top show: counts, the last minutes second by second, the last "
            "failures.",
        .takes = "",
        .gives = kJson,
        .statuses = {200},
        .head = Description::Head::kLikeGet},
       &FactsApi::get_stats},
      {{.method = Method::kPost,
        .pattern = "/v1/selfcheck",
        .scope = Scope::kAdmin,
        .summary =
            "Try to break out, as zygo selfcheck does, and answer with its report. One at a time.",
        .takes = "",
        .gives = kJson,
        .statuses = {200, 409}},
       &FactsApi::post_selfcheck},
      {{.method = Method::kGet,
        .pattern = "/v1/openapi.json",
        .scope = Scope::kInfo,
        .summary = "This document.",
        .takes = "",
        .gives = kJson,
        .statuses = {200},
        .head = Description::Head::kLikeGet},
       &FactsApi::get_openapi},
  };
  return all;
}

void FactsApi::get_runtimes(const ExchangePtr& exchange, const std::string&) {
  context_.runtimes.get([exchange](const InstalledRuntimes::List& runtimes) {
    exchange->answer({.body = runtimes.json});
  });
}

void FactsApi::get_templates(const ExchangePtr& exchange, const std::string&) {
  exchange->answer({.body = context_.facts.templates});
}

void FactsApi::get_info(const ExchangePtr& exchange, const std::string&) {
  const runtime::Engine::Standing standing = context_.engine.standing();
  const ordered_json info = {{"version", context_.options.version},
                             {"level", sandbox::name_of(standing.level)},
                             {"enforced", names_of(standing.layers)},
                             {"workers", context_.engine.workers()},
                             {"parts", true},  // batches may have raw parts
                             {"tenant_by", name_of(context_.tenancy.by())},
                             {"template", context_.options.defaults.job.template_name},
                             {"durable", context_.options.ledger != nullptr},
                             {"limits",
                              {{"queue", context_.options.queue},
                               {"body_bytes", context_.options.http.limits.parser.body},
                               {"held_bytes", context_.options.held},
                               {"connections", context_.options.http.connections},
                               {"kept_ms", context_.options.kept.keep.count()}}}};
  exchange->answer({.body = info.dump(2) + "\n"});
}

void FactsApi::get_health(const ExchangePtr& exchange, const std::string&) {
  exchange->answer(fine());
}

void FactsApi::get_ready(const ExchangePtr& exchange, const std::string&) {
  std::string lack(name_of(context_.phase));
  if (context_.phase == Phase::kReady) lack = context_.facts.lack ? context_.facts.lack() : "";
  exchange->answer(lack.empty() ? fine() : busy_response(503, "not_ready", lack, 1));
}

void FactsApi::get_metrics(const ExchangePtr& exchange, const std::string&) {
  std::string text = context_.observer.metrics_text();
  context_.append_metrics(text);
  exchange->answer({.body = std::move(text), .type = "text/plain; version=0.0.4"});
}

void FactsApi::get_stats(const ExchangePtr& exchange, const std::string&) {
  const std::string level(sandbox::name_of(context_.engine.standing().level));
  Response response{.body = context_.observer.stats_json(context_.options.version, level,
                                                         std::string(name_of(context_.phase))) +
                            "\n"};
  response.headers.emplace_back("Cache-Control", "no-store");
  exchange->answer(std::move(response));
}

void FactsApi::post_selfcheck(const ExchangePtr& exchange, const std::string&) {
  if (!context_.facts.selfcheck)
    return exchange->answer(error_response(501, "selfcheck", "there is no check of itself"));
  if (std::exchange(checking_, true))
    return exchange->answer(busy_response(409, "busy", "one is under way already", 5));
  auto report = std::make_shared<sys::Result<std::string>>(std::string());
  runtime::run_aside(
      context_.loop, [report, check = context_.facts.selfcheck] { *report = check(); },
      [this, exchange, report] {
        checking_ = false;
        exchange->answer(*report ? Response{.body = std::move(*report).value()}
                                 : error_response(500, "selfcheck", report->error().text()));
      });
}

void FactsApi::get_openapi(const ExchangePtr& exchange, const std::string&) {
  Described all{NativeApi::descriptions(), session_schemas()};
  context_.describe_others(all);
  exchange->answer({.body = openapi_json(context_.options.version, all)});
}

}  // namespace service
