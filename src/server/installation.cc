#include "server/installation.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "api/iam/token_handlers.h"
#include "base/async/diagnostics.h"
#include "base/async/watched_executor.h"
#include "base/process/account_name.h"
#include "base/process/descriptor_limit.h"
#include "cli/version.h"
#include "control/known_accounts.h"
#include "control/upkeep/drain_order.h"
#include "control/upkeep/kept_images.h"
#include "engine/local/former_attempts.h"
#include "engine/local/keeper_starter.h"
#include "engine/local/machine.h"
#include "net/access/caller.h"
#include "net/sockets/listen_address.h"
#include "programs/environment/python_probe.h"
#include "programs/environment/runtime_list.h"
#include "programs/environment/site_hook.h"
#include "server/google_front.h"
#include "server/node_settings.h"
#include "server/routes.h"
#include "stores/backup/restored_from.h"
#include "stores/storage/bucket_rights.h"

namespace trainyard::server {

using engine::ContainerUpkeep;
using store::DataDirectory;

namespace {

/// Not where the options rule them out: FindContainerSupport.
bool MayFindContainers(const ServeOptions& options) {
  return options.containers.choice.way != engine::ContainerChoice::Way::kOff && !options.job_uids;
}

/// `jobs` is asked by the loop, not now.
ContainerUpkeep::Options UpkeepOptions(const ContainerOptions& options, const DataDirectory& data,
                                       Foundation& foundation, control::JobService& jobs) {
  const engine::ContainerSupport& containers = foundation.containers;
  ContainerUpkeep::Options upkeep{.images_dir = data.images_dir(), .attempts_dir = data.attempts_dir()};
  if (options.images_bytes_max > 0) upkeep.limits.bytes_max = options.images_bytes_max;
  if (options.images_age_max > std::chrono::hours(0)) upkeep.limits.age_max = options.images_age_max;
  if (containers.kind == replica::v1::Manifest::CONTAINER_DAEMON) upkeep.daemon_socket = containers.address;
  upkeep.needed = [&jobs] { return jobs.removal().NeededImages(); };
  upkeep.clock_ahead = [&watch = foundation.clock_watch] {
    return watch.Doubt().value_or(std::chrono::nanoseconds{0});
  };
  return upkeep;
}

/// Who has logged in, else the account at the other end, as the gate found it.
std::string WhoAsks(const http::Request& request) {
  if (request.caller != nullptr) return request.caller->principal();
  if (request.peer == nullptr || !request.peer->uid) return {};
  const std::string name = AccountName(*request.peer->uid);
  return name.empty() ? "account " + std::to_string(*request.peer->uid) : name;
}

engine::Cluster::Place PlaceOfCluster(const ServeOptions& options, const DataDirectory& data) {
  return {.project = options.project,
          .google_front = options.google_front,
          .image_map = options.containers.image_map,
          .environments_dir = data.environments_dir(),
          .address_file = data.Path("run/agents-address"),
          .database = data.Path("engines.db")};
}

/// Where attempts live that a restored data directory's jobs have to wait for; empty: nowhere.
Result<std::string> FormerAttemptsOf(const DataDirectory& data) {
  std::string former = backup::FormerAttempts(data.Path(""));
  if (former.empty() || engine::HasLivingAttempts(former)) return former;
  TY_RETURN_IF_ERROR(backup::ForgetFormer(data.Path("")));
  return "";
}

/// A line for the operator of a data directory that was restored.
void SayWhatItIsMadeOf(const DataDirectory& data, const std::string& former) {
  const auto from = backup::ReadRestoredFrom(data.Path(""));
  if (!from) return;
  Diagnose(DiagnosticLevel::kInfo,
           "this data directory is restored from a backup of " + from->data_directory() + " with " +
               std::to_string(from->unfinished_jobs()) +
               " unfinished jobs: replicas of theirs that ran begin again as a further attempt" +
               (former.empty() ? "" : ", once nothing of the job lives in " + former + " any more"));
}

/// Programs of users get the limit that the server had: some cannot use descriptors beyond 1,023.
std::vector<std::string> SupervisorArguments() {
  std::vector<std::string> arguments = {"replica"};
  if (const auto former = FormerDescriptorLimit())
    arguments.push_back("--descriptors=" + std::to_string(*former));
  return arguments;
}

/// What a JWT may name as its audience.
std::vector<std::string> OwnUrlsOf(const ServeOptions& options, const BoundSockets& sockets) {
  sockets::OwnPorts ports{.plain = {sockets.administration.port}, .tls = sockets.administration_tls.port};
  if (sockets.replicas) ports.plain.push_back(sockets.replicas->port);
  return sockets::OwnUrls(sockets::OwnNames(options.host, options.host_names), ports);
}

/// The keeper cannot use our /proc/self/exe.
std::string SupervisorProgram(const ServeOptions& options) {
  return options.keeper.empty() ? "/proc/self/exe" : engine::OwnProgram();
}

}  // namespace

Result<std::unique_ptr<Installation>> Installation::Open(boost::asio::io_context& loop,
                                                         const ServeOptions& options, DataDirectory data,
                                                         const BoundSockets& sockets,
                                                         const engine::MachineLimits& limits) {
  TY_TRY(std::string secret, data.Secret());
  TY_RETURN_IF_ERROR(CheckJobUsers(options, data));
  std::optional<replica::v1::GoogleFront> front;
  if (options.google_front) {
    TY_TRY(front, PrepareGoogleFront(options, data, sockets));
  }
  TY_RETURN_IF_ERROR(environment::InstallSiteHook(data.environments_dir()));
  TY_TRY(environment::Catalogue catalogue, environment::Catalogue::Load(data.environments_dir()));
  TY_TRY(
      engine::ContainerSupport containers,
      engine::FindContainerSupport(options.containers.choice, options.network, options.job_uids.has_value()));
  engine::SayContainerSupport(containers);
  auto foundation = std::make_unique<Foundation>(std::move(containers), options, data);
  TY_TRY(Stores stores, OpenStores(loop, options, data, *foundation));
  TY_TRY(control::v1::Drain drain, control::ReadDrain(data.Path("")));
  TY_TRY(std::string former, FormerAttemptsOf(data));
  SayWhatItIsMadeOf(data, former);
  engine::NodeSettings node = MakeNodeSettings(options, data, foundation->containers, sockets);
  node.google_front = std::move(front);
  auto starter = engine::MakeStarter(options.keeper, options.capacity, data.attempts_dir(), limits);
  TY_TRY(auto cluster, engine::Cluster::Open(loop, options.engine, PlaceOfCluster(options, data),
                                             foundation->clock, sockets.identity));
  Parts parts{.data = std::move(data),
              .catalogue = std::move(catalogue),
              .foundation = std::move(foundation),
              .stores = std::move(stores),
              .settings = MakeSettings(options, secret, sockets),
              .node = std::move(node),
              .tls_port = sockets.administration_tls.port,
              .own_urls = OwnUrlsOf(options, sockets),
              .drain = std::move(drain),
              .former_attempts_dir = std::move(former),
              .starter = std::move(starter),
              .cluster = std::move(cluster)};
  return std::unique_ptr<Installation>(new Installation(loop, options, std::move(parts)));
}

control::JobMaker::Policy Installation::MakePolicy(const ServeOptions& options, const DataDirectory& data,
                                                   Foundation& foundation, placement::Capacity capacity,
                                                   placement::DevicePool devices) {
  identity::Identities& identities = *stores_.identities;
  control::BucketOwners owners{
      .project_of = [&identities](const std::string& bucket) { return identities.ProjectOf(bucket); },
      .set_project =
          [&identities](std::string bucket, std::string project) {
            return identities.SetBucketProject(std::move(bucket), std::move(project));
          }};
  pythons_ = std::make_shared<environment::PythonInventory>(data.environments_dir());
  decltype(control::JobMaker::Policy::engine_of) engine_of;
  if (cluster_) engine_of = [this](const placement::Gang& gang) { return EngineOf(gang); };
  std::vector<std::string> mapped;
  for (const auto& [pattern, reference] : options.containers.image_map) mapped.push_back(pattern);
  return {.runtime_default = options.default_runtime,
          .runtime_fallback = options.runtime_fallback,
          .images = options.images,
          .mapped_images = std::move(mapped),
          .pythons = pythons_->Look(),
          .look_at_pythons = [inventory = pythons_] { return inventory->Look(); },
          .capacity = capacity,
          .devices = std::move(devices),
          .engine_of = std::move(engine_of),
          .registries = &foundation.registries,
          .containers = {.are_here = foundation.containers.kind !=
                                     replica::v1::Manifest::CONTAINER_RUNTIME_UNSPECIFIED,
                         .lacking = foundation.containers.lacking},
          .lookups = &foundation.image_lookups,
          .bucket_owners = std::move(owners),
          .number_of = control::NumbersOf(*stores_.identities),
          .accounts = control::AccountsOf(*stores_.identities)};
}

boost::asio::awaitable<std::string> Installation::LookForContainers() {
  co_await container_probe_.Ask(control::kImageLookUpMax);
  co_return foundation_->containers.lacking;
}

/// Without an answer nothing is new: a server whose operator asks for one way does not start without it.
void Installation::UseContainers(const Result<engine::ContainerSupport>& found) {
  if (!found || foundation_->registries.resolve != nullptr) return;
  foundation_->UseContainers(*found, options_, data_);
  if (found->kind == replica::v1::Manifest::CONTAINER_RUNTIME_UNSPECIFIED) return;
  engine::SayContainerSupport(*found);
  node_.container_runtime = found->kind;
  node_.container_runtime_address = found->address;
  if (found->kind == replica::v1::Manifest::CONTAINER_DAEMON) container_upkeep_.UseDaemon(found->address);
}

control::Settings Installation::MakeSettings(const ServeOptions& options, std::string_view secret,
                                             const BoundSockets& sockets) {
  return {.keys = control::Keys::Derive(secret),
          .server_url = sockets::IsLoopback(options.host)
                            ? sockets::Url("http", options.host, sockets.administration.port)
                            : sockets::Url("https", sockets::PublicName(options.host, options.host_names),
                                           sockets.administration_tls.port),
          .auth = options.auth,
          .stop_grace = options.stop_grace,
          .restart_pause = options.restart_pause,
          .job_log_bytes_max = options.job_log_bytes_max,
          .replica_log_bytes_max = options.replica_log_bytes_max,
          .machine_limits = options.capacity == placement::Capacity::Mode::kStrict};
}

namespace {

/// Where users log in, jobs of other projects are not named.
placement::Naming NamingOf(const ServeOptions& options) { return {.others = !options.auth}; }

engine::LocalEngine::Options LocalOptions(const ServeOptions& options, const control::Keys& keys,
                                          placement::Capacity capacity, placement::DevicePool devices,
                                          const Clock& clock) {
  std::uint32_t spread = 0;
  std::memcpy(&spread, keys.ports.data(), sizeof(spread));
  return {.capacity = capacity,
          .lease_spread = spread,
          .network = options.network,
          .devices = std::move(devices),
          .shares = {.weights = options.shares.weights, .naming = NamingOf(options), .clock = &clock}};
}

}  // namespace

Installation::Installation(boost::asio::io_context& loop, const ServeOptions& options, Parts parts)
    : options_(options),
      data_(std::move(parts.data)),
      catalogue_(std::move(parts.catalogue)),
      foundation_(std::move(parts.foundation)),
      gates_(options, loop.get_executor(), foundation_->who_asks, data_.attempts_dir()),
      stores_(std::move(parts.stores)),
      container_upkeep_(WatchLoop(loop, &foundation_->watch, "upkeep of images"), foundation_->image_lookups,
                        UpkeepOptions(options.containers, data_, *foundation_, jobs_)),
      journal_(loop, *stores_.writer, *stores_.reader),
      settings_(std::move(parts.settings)),
      own_urls_(std::move(parts.own_urls)),
      node_(std::move(parts.node)),
      container_probe_(
          WatchLoop(loop, &foundation_->watch, "containers"), foundation_->image_lookups,
          [choice = options.containers.choice, network = options.network,
           users = options.job_uids.has_value()] {
            return engine::FindContainerSupport(choice, network, users);
          },
          [this](const Result<engine::ContainerSupport>& found) { UseContainers(found); }),
      capacity_(engine::MachineCapacity(options.capacity)),
      devices_(engine::MachineDevices(options.accelerators, options.accelerator_map)),
      starter_(std::move(parts.starter)),
      host_(WatchLoop(loop, &foundation_->watch, "attempts"), node_, *starter_,
            {.supervisor_program = SupervisorProgram(options),
             .supervisor_arguments = SupervisorArguments(),
             .former_attempts_dir = std::move(parts.former_attempts_dir)}),
      engine_(WatchLoop(loop, &foundation_->watch, "admissions"),
              LocalOptions(options, settings_.keys, capacity_, devices_, foundation_->clock)),
      cluster_(std::move(parts.cluster)),
      admissions_(WatchLoop(loop, &foundation_->watch, "admissions"), Rooms()),
      use_keeper_(WatchLoop(loop, &foundation_->watch, "use of projects"),
                  {.engine = engine_,
                   .logs = *stores_.logs,
                   .buckets = BucketOptionsOf(options, data_, nullptr),
                   .meter = stores_.meter,
                   .clock = foundation_->clock,
                   .files = foundation_->files,
                   .file = data_.Path("project-use.json"),
                   .quotas = options.shares.quotas},
                  *stores_.reader),
      maker_(*stores_.buckets, catalogue_, foundation_->clock,
             MakePolicy(options, data_, *foundation_, capacity_, devices_)),
      jobs_({.loop = WatchLoop(loop, &foundation_->watch, "jobs"),
             .journal = journal_,
             .logs = *stores_.logs,
             .admissions = admissions_,
             .hosts = Hosts(),
             .clock = foundation_->clock,
             .settings = settings_,
             .buckets = stores_.buckets.get(),
             .registries = &foundation_->registries,
             .secrets = stores_.secrets.get(),
             .buckets_of = BucketsOf(options),
             .quotas = &options.shares.quotas,
             .bytes = &use_keeper_.bytes(),
             .usage = stores_.usage.get(),
             .check_space = [this] { return foundation_->disk.Last().may_store; },
             .may_begin = [this] { return foundation_->disk.Last().may_begin; },
             .number_of = control::NumbersOf(*stores_.identities),
             .accounts = control::AccountsOf(*stores_.identities),
             .jumped_since = [this](SysTime since) { return foundation_->clock_watch.JumpedSince(since); }},
            maker_, options.accelerator_quota),
      curves_(WatchLoop(loop, &foundation_->watch, "curves"), CurvesOutside(options)),
      tokens_(settings_, foundation_->clock, jobs_),
      asking_(WatchLoop(loop, &foundation_->watch, "who asks"),
              {.settings = settings_,
               .clock = foundation_->clock,
               .instance_of = [this](std::string attempt) { return jobs_.InstanceOf(std::move(attempt)); },
               .peers = gates_.uids(),
               .pool = foundation_->who_asks,
               .attempts_dir = data_.attempts_dir()}),
      request_quota_(foundation_->clock, options.request_limits, control::NumbersOf(*stores_.identities)),
      operations_({.loop = WatchLoop(loop, &foundation_->watch, "operations"),
                   .clock = foundation_->clock,
                   .jobs = jobs_,
                   .admissions = admissions_,
                   .disk = foundation_->disk,
                   .clock_watch = foundation_->clock_watch,
                   .data_dir = options.data_dir,
                   .bucket_dirs = options.bucket_dirs,
                   .backup_dir = options.backup_dir,
                   .who_asks = WhoAsks,
                   .is_from_machine = [this](const auto& request) { return asking_.IsFromMachine(request); }},
                  std::move(parts.drain)),
      disk_watch_(WatchLoop(loop, &foundation_->watch, "the disk"), {.space = foundation_->disk,
                                                                     .reserve = data_.reserve(),
                                                                     .clock = foundation_->clock_watch,
                                                                     .admissions = admissions_}),
      machine_watch_({.loop = WatchLoop(loop, &foundation_->watch, "the machine"),
                      .clock = foundation_->clock,
                      .jobs = jobs_,
                      .usage = *stores_.usage,
                      .data_dir = options.data_dir,
                      .bucket_dirs = options.bucket_dirs,
                      .devices = devices_.devices(),
                      .cpus = static_cast<double>(capacity_.cpus),
                      .version = std::string(cli::kVersion)}),
      sweeper_(WatchLoop(loop, &foundation_->watch, "sweeping"),
               {.clock = foundation_->clock_watch,
                .jobs = jobs_,
                .journal = journal_,
                .logs = *stores_.logs,
                .hosts = Hosts(),
                .attempts_dir = data_.attempts_dir(),
                .data_dir = options.data_dir,
                .environments_dir = data_.environments_dir(),
                .policy = options.retention.policy}) {
  if (MayFindContainers(options))
    foundation_->registries.look_for_containers = [this] { return LookForContainers(); };
  AddRoutes(parts.tls_port);
}

engine::Admissions::Options Installation::Rooms() {
  const placement::Naming naming = NamingOf(options_);
  const auto room = [&](std::string_view name, engine::Engine& engine) {
    return engine::Admissions::Options::Room{
        .name = name, .engine = engine, .quotas = {options_.shares.quotas, name, naming}};
  };
  engine::Admissions::Options options{
      .rooms = {room(placement::kLocalEngine, engine_)},
      .engine_of = [this](const placement::Gang& gang) { return EngineOf(gang); },
      .naming = naming};
  if (cluster_) options.rooms.push_back(room(placement::kSlurmEngine, cluster_->engine()));
  return options;
}

api::MetadataAnswers Installation::MetadataForUsers(std::function<std::string()> universe) {
  return {.project = options_.project,
          .number_of = control::NumbersOf(*stores_.identities),
          .universe_domain = std::move(universe),
          .access_token = api::TokensForUsers(tokens_, asking_, options_.auth),
          .instance = [](const http::Request&) -> boost::asio::awaitable<api::AskingAttempts::Instance> {
            co_return std::nullopt;
          }};
}

/// Null where nobody has to log in: every program may use all.
decltype(control::Collaborators::buckets_of) Installation::BucketsOf(const ServeOptions& options) {
  if (!options.auth) return nullptr;
  return [this, account_of = control::RightsAccount(*stores_.identities)](const control::v1::JobRecord& job) {
    return storage::BucketRightsOf(*stores_.buckets, *stores_.identities, account_of(job));
  };
}

curves::JobCurves::Outside Installation::CurvesOutside(const ServeOptions& options) {
  curves::JobCurves::Outside outside{jobs_, *stores_.buckets, *stores_.usage};
  if (!options.auth) return outside;
  outside.may_read = [this](const std::string& service_account, const std::string& bucket) {
    return storage::MayReadBucket(*stores_.identities, service_account, bucket);
  };
  outside.account_of = control::RightsAccount(*stores_.identities);
  return outside;
}

api::MetadataAnswers Installation::MetadataForReplicas(std::function<std::string()> universe) {
  return {.project = options_.project,
          .number_of = control::NumbersOf(*stores_.identities),
          .universe_domain = std::move(universe),
          .access_token = api::TokensForReplicas(tokens_, asking_),
          .instance = [this](const http::Request& request) { return asking_.InstanceOf(request); },
          .has_accounts = options_.auth};
}

api::RuntimeSource Installation::RuntimesHere() {
  auto list = [this, folder = data_.environments_dir()] {
    return environment::ListRuntimes(folder, catalogue_, options_.default_runtime, pythons_->Look());
  };
  return {.list = std::move(list), .pool = foundation_->runtime_lists};
}

api::MachineSource Installation::MachineHere() {
  return {.report = [this] { return machine_watch_.Report(); },
          .history = [this](std::chrono::hours hours) { return machine_watch_.History(hours); },
          .images = [folder = data_.images_dir()] { return control::KeptImages(folder); },
          .pool = foundation_->runtime_lists};
}

std::string_view Installation::EngineOf(const placement::Gang& gang) const {
  return slurm::IsForSlurm(options_.engine, devices_, gang) ? placement::kSlurmEngine
                                                            : placement::kLocalEngine;
}

bool Installation::OffersAccelerator(const std::string& region, ml::v1::AcceleratorConfig::Type type) {
  return slurm::OffersAccelerator(options_.engine, devices_, cluster_ ? &cluster_->engine().Gpus() : nullptr,
                                  region, type);
}

std::vector<api::MetricsSources::Limit> Installation::KnownLimits() const {
  engine::MachineLimits known = starter_->limits();
  std::vector<api::MetricsSources::Limit> shown;
  for (engine::MachineLimits::Limit& limit : known.limits)
    shown.push_back({std::move(limit.what), limit.works});
  return shown;
}

ApiParts Installation::PartsFor(api::MetadataAnswers metadata) {
  return {.clock = foundation_->clock,
          .jobs = jobs_,
          .studies = *stores_.studies,
          .buckets = *stores_.buckets,
          .identities = *stores_.identities,
          .logs = *stores_.logs,
          .tails = *stores_.tails,
          .lines = *stores_.lines,
          .usage = *stores_.usage,
          .curves = curves_,
          .request_quota = request_quota_,
          .request_counts = request_counts_,
          .connections = foundation_->connections,
          .loop = foundation_->watch,
          .limits = [this] { return KnownLimits(); },
          .runtimes = RuntimesHere(),
          .machine = MachineHere(),
          .add_machine = [this](control::v1::UsageReport& report) { use_keeper_.AddMachine(report); },
          .region_offers =
              [this](const std::string& region, ml::v1::AcceleratorConfig::Type type) {
                return OffersAccelerator(region, type);
              },
          .metadata = std::move(metadata),
          .administration = operations_,
          .auth = options_.auth,
          .session_secret = [this](std::string_view token) { return tokens_.SessionSecret(token); },
          .server_url = settings_.server_url,
          .own_urls = own_urls_};
}

api::MetricsSources Installation::Metrics() { return MetricsOf(PartsFor({})); }

void Installation::AddRoutes(std::uint16_t tls_port) {
  const auto universe = [tls_port] { return "localhost:" + std::to_string(tls_port); };
  api::MetadataAnswers users = MetadataForUsers(universe);
  users.has_console = true;
  ApiParts administration = PartsFor(std::move(users));
  administration.audit = stores_.audit_search.get();
  if (stores_.audit) administration.audit_logins = AuditInto(*stores_.audit, options_, *stores_.identities);
  AddAdministrationRoutes(administration_routes_, administration);
  AddReplicaRoutes(replica_routes_, PartsFor(MetadataForReplicas(universe)));
  AddSupervisorRoutes(supervisor_routes_, jobs_);
  GuardRoutes();
}

void Installation::GuardRoutes() {
  if (!options_.auth) {
    for (http::Router* checked : {&administration_routes_, &replica_routes_})
      api::CheckTokens(*checked, tokens_);
    return;
  }
  doors_.emplace(options_, Doors::Parts{.identities = *stores_.identities,
                                        .tokens = tokens_,
                                        .jobs = jobs_,
                                        .clock = foundation_->clock,
                                        .asking = asking_,
                                        .own_urls = own_urls_,
                                        .audit = *stores_.audit});
  doors_->administration().Guard(administration_routes_);
  doors_->replicas().Guard(replica_routes_);
}

}  // namespace trainyard::server
