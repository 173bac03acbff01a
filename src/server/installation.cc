#include "server/installation.h"

#include <utility>

#include "api/iam/token_handlers.h"
#include "control/known_accounts.h"
#include "control/upkeep/drain_order.h"
#include "programs/environment/site_hook.h"
#include "server/node_settings.h"
#include "server/routes.h"

namespace trainyard::server {

Result<std::unique_ptr<Installation>> Installation::Open(boost::asio::io_context& loop,
                                                         const ServeOptions& options,
                                                         store::DataDirectory data,
                                                         const BoundSockets& sockets,
                                                         const engine::MachineLimits& limits) {
  TY_RETURN_IF_ERROR(CheckJobUsers(options, data));
  TY_RETURN_IF_ERROR(environment::InstallSiteHook(data.environments_dir()));
  TY_TRY(environment::Catalogue catalogue, environment::Catalogue::Load(data.environments_dir()));
  TY_TRY(std::unique_ptr<Foundation> base, Foundation::Open(loop, options, std::move(data), sockets));
  TY_TRY(Stores stores, OpenStores(*base));
  TY_TRY(control::v1::Drain drain, control::ReadDrain(base->data.Path("")));
  std::unique_ptr<Installation> made(new Installation(std::move(base), std::move(stores), sockets));
  Foundation& ground = *made->base_;
  auto needed = [self = made.get()] { return self->jobs().removal().NeededImages(); };
  TY_TRY(made->engines_, Engines::Open(ground, sockets, limits, std::move(needed)));
  made->loop_ = std::make_unique<JobLoop>(ground, made->stores_, *made->engines_, std::move(catalogue));
  made->callers_ = std::make_unique<Callers>(ground, *made->loop_);
  made->upkeep_ = std::make_unique<Upkeep>(ground, *made->loop_, *made->callers_, std::move(drain));
  made->AddRoutes();
  return made;
}

Installation::Installation(std::unique_ptr<Foundation> base, Stores stores, const BoundSockets& sockets)
    : base_(std::move(base)), stores_(std::move(stores)), tls_port_(sockets.administration_tls.port) {}

api::MetadataAnswers Installation::MetadataForUsers(std::function<std::string()> universe) {
  return {.project = base_->options.project,
          .number_of = control::NumbersOf(*stores_.identities),
          .universe_domain = std::move(universe),
          .access_token = api::TokensForUsers(loop_->tokens, callers_->asking, base_->options.auth),
          .instance = [](const http::Request&) -> boost::asio::awaitable<api::AskingAttempts::Instance> {
            co_return std::nullopt;
          }};
}

api::MetadataAnswers Installation::MetadataForReplicas(std::function<std::string()> universe) {
  return {.project = base_->options.project,
          .number_of = control::NumbersOf(*stores_.identities),
          .universe_domain = std::move(universe),
          .access_token = api::TokensForReplicas(loop_->tokens, callers_->asking),
          .instance = [this](const http::Request& request) { return callers_->asking.InstanceOf(request); },
          .has_accounts = base_->options.auth};
}

ApiParts Installation::PartsFor(api::MetadataAnswers metadata) {
  return {.clock = base_->clock,
          .jobs = loop_->jobs,
          .studies = *stores_.studies,
          .buckets = *stores_.buckets,
          .identities = *stores_.identities,
          .logs = *stores_.logs,
          .tails = *stores_.tails,
          .lines = *stores_.lines,
          .usage = *stores_.usage,
          .curves = loop_->curves,
          .request_quota = callers_->request_quota,
          .request_counts = callers_->request_counts,
          .connections = base_->connections,
          .loop = base_->watch,
          .limits = [this] { return engines_->KnownLimits(); },
          .runtimes = loop_->Runtimes(*base_),
          .machine = upkeep_->Machine(*base_),
          .add_machine = [this](control::v1::UsageReport& report) { loop_->use_keeper.AddMachine(report); },
          .region_offers =
              [this](const std::string& region, ml::v1::AcceleratorConfig::Type type) {
                return engines_->OffersAccelerator(region, type);
              },
          .metadata = std::move(metadata),
          .administration = upkeep_->operations,
          .auth = base_->options.auth,
          .session_secret = [this](std::string_view token) { return loop_->tokens.SessionSecret(token); },
          .server_url = base_->settings.server_url,
          .own_urls = base_->own_urls};
}

api::MetricsSources Installation::Metrics() { return MetricsOf(PartsFor({})); }

void Installation::AddRoutes() {
  const auto universe = [port = tls_port_] { return "localhost:" + std::to_string(port); };
  api::MetadataAnswers users = MetadataForUsers(universe);
  users.has_console = true;
  ApiParts administration = PartsFor(std::move(users));
  administration.audit = stores_.audit_search.get();
  if (stores_.audit)
    administration.audit_logins = AuditInto(*stores_.audit, base_->options, *stores_.identities);
  AddAdministrationRoutes(administration_routes_, administration);
  AddReplicaRoutes(replica_routes_, PartsFor(MetadataForReplicas(universe)));
  AddSupervisorRoutes(supervisor_routes_, loop_->jobs);
  GuardRoutes();
}

void Installation::GuardRoutes() {
  if (!base_->options.auth) {
    for (http::Router* checked : {&administration_routes_, &replica_routes_})
      api::CheckTokens(*checked, loop_->tokens);
    return;
  }
  doors_.emplace(base_->options, Doors::Parts{.identities = *stores_.identities,
                                              .tokens = loop_->tokens,
                                              .jobs = loop_->jobs,
                                              .clock = base_->clock,
                                              .asking = callers_->asking,
                                              .own_urls = base_->own_urls,
                                              .audit = *stores_.audit});
  doors_->administration().Guard(administration_routes_);
  doors_->replicas().Guard(replica_routes_);
}

}  // namespace trainyard::server
