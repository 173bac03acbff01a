#include "server/installation.h"

#include <memory>
#include <utility>

#include "api/iam/identity_handlers.h"
#include "api/iam/token_handlers.h"
#include "api/logging/logging_handlers.h"
#include "api/metadata/metadata_handlers.h"
#include "api/ml/ml_handlers.h"
#include "api/own/own_handlers.h"
#include "api/storage/folder_handlers.h"
#include "cli/version.h"
#include "control/accounts.h"
#include "control/job_service.h"
#include "control/upkeep/kept_images.h"
#include "engine/local/preparation_output.h"
#include "engine/replica_link.h"
#include "programs/environment/built_runtime.h"
#include "rules/cluster/role_packages.h"

namespace trainyard::server {

namespace {

using api::Give;
using api::Lend;
using api::Where;
using Sources = std::vector<api::Source>;

/// A program in a replica gets the answers for its own replica; other clients get tokens of the
/// administration, and no machine. `universe`: see api::MetadataAnswers.
api::MetadataAnswers AnswersOf(Installation& all, const std::string& universe, bool is_for_users) {
  api::AskingAttempts& asking = all.callers->asking;
  const bool auth = all.base->options.auth;
  api::MetadataAnswers answers{.project = all.base->options.project,
                               .number_of = control::NumbersOf(*all.stores.identities),
                               .universe_domain = universe,
                               .has_accounts = auth && !is_for_users};
  if (is_for_users) {
    answers.account = api::kUsersMetadataAccount;
    answers.access_token = api::TokensForUsers(all.loop->tokens, asking, auth);
    answers.instance = [](const http::Request&) -> boost::asio::awaitable<api::AskingAttempts::Instance> {
      co_return std::nullopt;
    };
  } else {
    answers.access_token = api::TokensForReplicas(all.loop->tokens, asking);
    answers.instance = [&asking](const http::Request& request) { return asking.InstanceOf(request); };
  }
  return answers;
}

// What the functions of each API are called with. `is_outside`: for the administration's clients, otherwise
// for replicas.

Sources MlSources(Installation& all, bool is_outside) {
  api::RegionOffers offers = [&engines = *all.engines](const std::string& region,
                                                       ml::v1::AcceleratorConfig::Type type) {
    return engines.OffersAccelerator(region, type);
  };
  return {Lend(all.callers->request_quota),
          Lend(all.loop->jobs),
          Lend(*all.stores.studies),
          Give(std::move(offers)),
          Give<cluster::NumberOf>(
              [&known = *all.stores.identities](std::string_view id) { return known.ShownNumber(id); }),
          Give(api::WebAccess{.is_shown = is_outside})};
}

Sources StorageSources(Installation& all, bool is_outside) {
  Sources sources{Lend(*all.stores.buckets), Lend(*all.stores.identities)};
  if (is_outside) sources.push_back(Give(std::make_shared<api::Folders>(*all.stores.buckets)));
  return sources;
}

Sources LoggingSources(Installation& all, bool is_outside) {
  const api::MlJobOfNumber ml_job_of = api::MlJobsOf(all.loop->jobs);
  return {Give(std::make_shared<api::EntryLists>(
              *all.stores.logs, is_outside ? all.stores.audit_search.get() : nullptr, ml_job_of)),
          Give(api::TailSource{.tails = *all.stores.tails, .ml_job_of = ml_job_of})};
}

Sources MetadataSources(const api::MetadataAnswers& answers) {
  return {Give(answers), Give(answers.instance)};
}

api::TokenNames TokenNamesOf(const Installation& all) {
  return {.own_audiences = all.base->own_urls, .server = all.base->settings.server_url};
}

api::TokenEndpoint TokenEndpointOf(Installation& all) {
  return {.identities = *all.stores.identities, .clock = all.base->clock, .names = TokenNamesOf(all)};
}

Sources IamSources(Installation& all) {
  control::TokenService& tokens = all.loop->tokens;
  api::Sessions sessions{
      .identities = *all.stores.identities,
      .clock = all.base->clock,
      .auth = all.base->options.auth,
      .own_audiences = all.base->own_urls,
      .version = std::string(cli::kVersion),
      .secret_of = [&tokens](std::string_view token) { return tokens.SessionSecret(token); },
      .audit = AuditSinkOf(all),
      .newest_project = api::NewestProjects(all.loop->jobs, *all.stores.identities)};
  return {Lend<Clock>(all.base->clock), Give(identity::KeyFileServer{.url = all.base->settings.server_url}),
          Give(TokenNamesOf(all)),      Give(api::ProjectsOfJobs(all.loop->jobs)),
          Give(TokenEndpointOf(all)),   Give(std::move(sessions))};
}

api::MetricsSources MetricsOf(Installation& all) {
  std::function<control::Notifier::Counts()> notices;
  if (all.notices != nullptr) notices = [&notifier = *all.notices->notifier] { return notifier.counts(); };
  return {.jobs = all.loop->jobs,
          .usage = *all.stores.usage,
          .requests = all.callers->request_counts,
          .connections = all.base->connections,
          .loop = all.base->watch,
          .limits = [&engines = *all.engines] { return engines.limits(); },
          .use = [&engines = *all.engines] { return engines.local().Occupancy(); },
          .notices = std::move(notices)};
}

api::MachineSource MachineOf(Installation& all) {
  control::MachineWatch& watch = all.upkeep->machine_watch;
  return {.report = [&watch] { return watch.Report(); },
          .history = [&watch](std::chrono::hours hours) { return watch.History(hours); },
          .images = [folder = all.base->data.images_dir()] { return control::KeptImages(folder); },
          .pool = all.base->runtime_lists};
}

void AddWarm(const engine::Mothers::Shown& mother, control::v1::RuntimeList& runtimes) {
  for (control::v1::Runtime& runtime : *runtimes.mutable_runtimes()) {
    if (!runtime.folder().ends_with("/" + mother.runtime)) continue;
    control::v1::Runtime::Warm& warm = *runtime.mutable_warm();
    *warm.mutable_packages() = {mother.packages.begin(), mother.packages.end()};
    warm.set_bytes(mother.bytes);
    warm.mutable_since()->set_seconds(std::chrono::system_clock::to_time_t(mother.since));
    warm.set_served(mother.served);
  }
}

api::RuntimeSource RuntimesOf(Installation& all) {
  auto list = [&loop = *all.loop, folder = all.base->data.environments_dir(),
               newest = all.base->options.default_runtime] {
    return environment::ListRuntimes(folder, loop.catalogue, newest, loop.pythons->Look());
  };
  auto add_warm = [&mothers = all.upkeep->mothers](control::v1::RuntimeList& runtimes) {
    for (const engine::Mothers::Shown& mother : mothers.List()) AddWarm(mother, runtimes);
  };
  return {.list = std::move(list), .pool = all.base->runtime_lists, .add_warm = std::move(add_warm)};
}

/// What the tools printed that installed the packages, from the job's runtime version and from its images.
std::string ReadPackages(const control::v1::JobRecord& job, const cluster::Packages& packages,
                         const replica::v1::Manifest& places) {
  replica::v1::Manifest manifest = places;
  replica::v1::Manifest::Program& program = *manifest.mutable_program();
  program.set_runtime_version(job.runtime_version());
  *program.mutable_packages() = packages;
  std::string text = job.runtime_version().empty() ? "" : engine::PreparationOutput(manifest);
  for (const control::v1::ImageRecord& image : job.images()) {
    program.mutable_container()->set_image(image.image());
    program.mutable_container()->set_digest(image.digest());
    text += engine::PreparationOutput(manifest);
  }
  return text;
}

/// For the packages of the job, and of each role that has its own.
std::string ReadPreparation(const control::v1::JobRecord& job, const replica::v1::Manifest& places) {
  const std::string runtime = ReadPackages(job, {}, places);
  std::string text = runtime;
  for (const cluster::Packages* packages : cluster::PackageLists(job)) {
    const std::string all = ReadPackages(job, *packages, places);
    text += all.starts_with(runtime) ? all.substr(runtime.size()) : all;
  }
  return text;
}

api::PreparationSource PreparationOf(Installation& all) {
  replica::v1::Manifest places;
  places.mutable_places()->set_environments_dir(all.base->data.environments_dir());
  places.mutable_places()->set_images_dir(all.base->data.images_dir());
  return {.jobs = all.loop->jobs,
          .read = [places](const control::v1::JobRecord& job) { return ReadPreparation(job, places); },
          .pool = all.base->runtime_lists};
}

Sources OwnSources(Installation& all) {
  control::JobService& jobs = all.loop->jobs;
  auto add_machine = [&keeper = all.loop->use_keeper](control::v1::UsageReport& report) {
    keeper.AddMachine(report);
  };
  return {Give(api::ShellsOf(jobs, all.base->clock)),
          Give(api::LogsOf(jobs, *all.stores.lines)),
          Give(std::make_shared<api::JobTablesPrinter>(jobs)),
          Give(api::JobWatchSource{.jobs = jobs}),
          Give(RuntimesOf(all)),
          Give(PreparationOf(all)),
          Give(MachineOf(all)),
          Give(api::UsageSource{.jobs = jobs, .add_machine = std::move(add_machine)}),
          Give(MetricsOf(all)),
          Lend(all.loop->curves),
          Lend<api::Administration>(all.upkeep->operations)};
}

Sources Joined(std::initializer_list<Sources> parts) {
  Sources all;
  for (const Sources& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

void Guard(Installation& all) {
  if (all.doors) {
    all.doors->administration().Guard(all.administration_routes);
    all.doors->replicas().Guard(all.replica_routes);
  }
  for (http::Router* routes : {&all.administration_routes, &all.replica_routes}) {
    if (!all.doors) api::CheckTokens(*routes, all.loop->tokens);
    api::TakeProjectNumbers(*routes, *all.stores.identities);  // last, so that the doors see the project's id
  }
}

}  // namespace

access::AuditSink AuditSinkOf(Installation& all) {
  if (!all.stores.audit) return nullptr;
  return api::AuditInto(*all.stores.audit, *all.stores.identities, all.base->options.project);
}

void AddRoutes(Installation& all, const std::string& universe) {
  api::MetadataAnswers users = AnswersOf(all, universe, true);
  users.has_console = true;
  const Where outside = Where::kAdministration;
  api::AddAllRoutes(all.administration_routes, all.doors ? outside | Where::kLogin : outside,
                    Joined({MlSources(all, true), StorageSources(all, true), LoggingSources(all, true),
                            MetadataSources(users), IamSources(all), OwnSources(all)}));
  api::AddAllRoutes(all.replica_routes, Where::kReplicas,
                    Joined({MlSources(all, false), StorageSources(all, false), LoggingSources(all, false),
                            MetadataSources(AnswersOf(all, universe, false))}));
  const api::Source attach = Give(api::Supervisors{engine::AttachHandler(all.loop->jobs.gateway())});
  api::AddAllRoutes(all.supervisor_routes, Where::kSupervisors, {&attach, 1});
  Guard(all);
}

std::vector<api::Source> FrontSources(Installation& all, bool is_for_users) {
  const Sources tokens{Lend(all.loop->tokens), Lend<Clock>(all.base->clock), Give(TokenEndpointOf(all))};
  return Joined(
      {StorageSources(all, false), tokens, MetadataSources(AnswersOf(all, "googleapis.com", is_for_users))});
}

http::Router MonitoringRoutes(Installation& all) {
  http::Router routes;
  api::MetricsSources nameless = MetricsOf(all);
  nameless.names_jobs = false;
  const Sources sources{Lend<api::Administration>(all.upkeep->operations), Give(std::move(nameless))};
  api::AddAllRoutes(routes, Where::kFigures, sources);
  return routes;
}

}  // namespace trainyard::server
