#include "engine/clusters.h"

#include <fcntl.h>

#include <filesystem>
#include <iterator>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/file.h"
#include "base/async/system_clock.h"
#include "base/tls/certificate.h"
#include "base/tls/sha256.h"
#include "base/wire/host_name.h"
#include "engine/kubernetes/kube_setup.h"
#include "engine/kubernetes/kubernetes_engine.h"
#include "engine/local/keeper_starter.h"
#include "engine/slurm/slurm_engine.h"
#include "engine/slurm/slurm_setup.h"
#include "net/front/google_names.h"
#include "programs/environment/layout.h"
#include "programs/environment/uv.h"
#include "rules/placement/engine_choice.h"
#include "rules/placement/quota.h"

namespace trainyard::engine {

namespace {

constexpr const char* kSettingsFolder = "runtimes.d";

Result<AgentProgram> OwnAgentProgram() {
  AgentProgram program;
  TY_TRY(program.file, OpenFile("/proc/self/exe", O_RDONLY));
  TY_TRY(program.sha256, tls::Sha256HexOfFile(program.file.get()));
  return program;
}

/// Adds the operator's own runtime versions to the welcome, since nodes build them, too.
void AddRuntimes(const std::string& environments_dir, ToAgent::Welcome& welcome) {
  for (const std::filesystem::path& file :
       PathsIn(std::filesystem::path(environments_dir) / kSettingsFolder)) {
    if (file.extension() != ".json") continue;
    if (auto text = ReadFile(file))
      (*welcome.mutable_runtime_definitions())[file.filename()] = *std::move(text);
  }
}

/// The host names under which agents answer with the server's front.
std::vector<std::string> FrontNames(const Clusters::Place& place) {
  if (!place.google_front) return {};
  return {std::begin(front::kTlsHosts), std::end(front::kTlsHosts)};
}

/// The same, and the metadata server's, which leads to the front's port 80.
std::vector<std::string> NamesInPods(const Clusters::Place& place) {
  std::vector<std::string> names = FrontNames(place);
  if (names.empty()) return names;
  names.emplace_back(wire::kGoogleMetadataHost);
  names.emplace_back(wire::kGoogleMetadataShortHost);
  return names;
}

Result<ToAgent::Welcome> MakeWelcome(const EngineOptions& options, const Clusters::Place& place,
                                     const tls::TlsIdentity& identity) {
  ToAgent::Welcome welcome;
  for (std::string& name : FrontNames(place)) welcome.add_front_host_names(std::move(name));
  TY_TRY(*welcome.mutable_ca_certificate_pem(), ReadFile(identity.ca_file));
  welcome.set_project(place.project);
  welcome.set_buckets_dir(options.node_buckets);
  if (!options.node_cache.empty()) {
    welcome.set_environments_dir(options.node_cache + "/environments");
    welcome.set_images_dir(options.node_cache + "/images");
  }
  AddRuntimes(place.environments_dir, welcome);
  return welcome;
}

Result<std::string> FingerprintOf(const tls::TlsIdentity& identity) {
  TY_TRY(const std::string pem, ReadFile(identity.ca_file));
  TY_TRY(const tls::Certificate certificate, tls::ParseCertificate(pem));
  return tls::Fingerprint(certificate.get());
}

/// The part of a cluster that is made before the address at which its agents reach this server is known.
struct SlurmParts {
  std::unique_ptr<SlurmClient> client;  ///< null: no job goes to Slurm
  std::vector<slurm::Node> nodes{};
};
Result<SlurmParts> FindSlurm(const EngineOptions& options) {
  SlurmParts parts;
  if (!placement::Uses(options, placement::kSlurmEngine)) return parts;
  TY_TRY(parts.client, MakeSlurmClient(options));
  TY_TRY(parts.nodes, CheckSlurm(options, *parts.client));
  return parts;
}

Result<KubernetesParts> FindKubernetes(const EngineOptions& options, const Clock& clock) {
  if (!placement::Uses(options, placement::kKubernetesEngine)) return KubernetesParts();
  TY_TRY(KubernetesParts parts, MakeKubeClient(options.kubernetes, clock));
  TY_RETURN_IF_ERROR(CheckKubernetes(*parts.client));
  parts.scheduler = FindGangScheduler(*parts.client, options.kubernetes);
  return parts;
}

/// Hosts of the clusters: the route to them says which address of this machine agents can reach.
std::vector<std::string> HostsOf(const SlurmParts& slurm, const KubernetesParts& kubernetes) {
  std::vector<std::string> hosts;
  for (const slurm::Node& node : slurm.nodes)
    if (!node.address.empty()) hosts.push_back(node.address);
  if (!kubernetes.server_host.empty()) hosts.push_back(kubernetes.server_host);
  return hosts;
}

}  // namespace

Clusters::Clusters(boost::asio::io_context& loop, const tls::TlsIdentity& identity, AgentsAddress address,
                   AgentProgram program)
    : loop_(loop),
      identity_(identity),
      address_(std::move(address)),
      program_(std::move(program)),
      names_(loop.get_executor()),
      host_(
          loop.get_executor(), [this](const std::string& agent) { return MayLive(agent); },
          [this](const std::string& agent) { OnUnheard(agent); }) {}

Result<std::unique_ptr<Clusters>> Clusters::Open(boost::asio::io_context& loop, const EngineOptions& options,
                                                 const Place& place, const Clock& clock,
                                                 const tls::TlsIdentity& identity) {
  TY_TRY(SlurmParts slurm, FindSlurm(options));
  TY_TRY(KubernetesParts kubernetes, FindKubernetes(options, clock));
  if (!slurm.client && !kubernetes.client) return nullptr;
  TY_TRY(AgentsAddress address, ListenForAgents(options, place.address_file, HostsOf(slurm, kubernetes)));
  TY_TRY(AgentProgram program, OwnAgentProgram());
  TY_TRY(ToAgent::Welcome welcome, MakeWelcome(options, place, identity));
  placement::AgentSource source{.server_host = address.host,
                                .server_port = address.port,
                                .certificate_sha256 = {},
                                .program_sha256 = program.sha256};
  TY_TRY(source.certificate_sha256, FingerprintOf(identity));
  std::unique_ptr<Clusters> clusters(new Clusters(loop, identity, std::move(address), std::move(program)));
  clusters->named_targets_ = FindNamedTargets(
      environment::ToolVariables({place.environments_dir}, environment::ToolCache::kNone), place.image_map);
  if (slurm.client) {
    TY_TRY(clusters->engines_[placement::kSlurmEngine],
           SlurmEngine::Open(loop.get_executor(), place.slurm_database,
                             {.settings = options.slurm,
                              .boot = {.source = source,
                                       .program_path = OwnProgram(),
                                       .ticket = {},
                                       .node_dir = options.node_dir},
                              .clock = clock,
                              .client = std::move(slurm.client),
                              .nodes = std::move(slurm.nodes)},
                             clusters->host_));
  }
  if (kubernetes.client) {
    TY_TRY(clusters->engines_[placement::kKubernetesEngine],
           KubernetesEngine::Open(loop.get_executor(), place.kubernetes_database,
                                  {.settings = options.kubernetes,
                                   .scheduler = kubernetes.scheduler,
                                   .boot = source,
                                   .front_names = NamesInPods(place),
                                   .clock = clock,
                                   .client = std::move(kubernetes.client)},
                                  clusters->host_));
  }
  clusters->desk_.emplace(AgentDesk{
      .slots = *clusters, .host = clusters->host_, .welcome = std::move(welcome), .relay = nullptr});
  return clusters;
}

Status Clusters::Check(const EngineOptions& options) {
  const SystemClock clock;
  if (const auto slurm = FindSlurm(options); !slurm) return std::unexpected(slurm.error());
  if (const auto kubernetes = FindKubernetes(options, clock); !kubernetes)
    return std::unexpected(kubernetes.error());
  return {};
}

Status Clusters::Start(Relay relay, http::ConnectionBudget& connections) {
  desk_->relay = std::move(relay);
  for (const auto& [name, engine] : engines_)
    Diagnose(DiagnosticLevel::kInfo, "jobs run on " + std::string(name) + "; its agents connect to " +
                                         address_.host + ":" + std::to_string(address_.port));
  TY_TRY(listener_, AgentsListener::Open(loop_, std::move(address_.socket), identity_, *desk_,
                                         std::move(program_), connections));
  for (const auto& [name, engine] : engines_) engine->Start();
  return {};
}

// --- agents

ClusterEngine* Clusters::Of(const std::string& agent) const {
  const auto found = engines_.find(placement::EngineOfAgent(agent));
  return found == engines_.end() ? nullptr : found->second.get();
}

boost::asio::awaitable<Result<std::string>> Clusters::TakeSlot(agent::v1::FromAgent::Hello hello,
                                                               AgentOrigin origin) {
  for (const auto& [name, engine] : engines_)
    if (engine->Knows(hello.ticket())) return engine->TakeSlot(std::move(hello), std::move(origin));
  return engines_.begin()->second->TakeSlot(std::move(hello), std::move(origin));  // which refuses it
}

void Clusters::OnAttached(const std::string& agent) {
  if (ClusterEngine* engine = Of(agent)) engine->OnAttached(agent);
}

void Clusters::OnDetached(const std::string& agent, mux::Ending ending) {
  if (ClusterEngine* engine = Of(agent)) engine->OnDetached(agent, ending);
}

void Clusters::OnTimeLimit(const std::string& agent) {
  if (ClusterEngine* engine = Of(agent)) engine->OnTimeLimit(agent);
}

void Clusters::OnUnheard(const std::string& agent) {
  if (ClusterEngine* engine = Of(agent)) engine->OnUnheard(agent);
}

bool Clusters::MayLive(const std::string& agent) const {
  const ClusterEngine* engine = Of(agent);
  return engine != nullptr && engine->MayLive(agent);
}

}  // namespace trainyard::engine
