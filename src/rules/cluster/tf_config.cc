#include "rules/cluster/tf_config.h"

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "base/text/json_string.h"
#include "rules/cluster/task_name.h"
#include "rules/measurement/hypertune_file.h"

namespace trainyard::cluster {
namespace {

using replica::v1::Cluster;
using replica::v1::Endpoint;
using replica::v1::Manifest;

/// Quotes text; control characters are written as codes, as in TF_CONFIG.
std::string Quote(std::string_view text) { return text::QuoteJson(text, text::JsonControls::kCode); }

bool IsPackageJob(const Manifest& manifest) { return !manifest.program().python_module().empty(); }

std::string_view HostOf(const Cluster& cluster, const Endpoint& endpoint) {
  if (cluster.endpoints_size() == 1) return "127.0.0.1";
  return endpoint.host_name().empty() ? endpoint.address() : endpoint.host_name();
}

const Endpoint& Master(const Cluster& cluster) {
  for (const Endpoint& endpoint : cluster.endpoints()) {
    if (endpoint.replica().type() == replica::v1::MASTER) return endpoint;
  }
  TY_CHECK(false && "a cluster without a master");
  return cluster.endpoints(0);
}

/// `"master": ["host:port", "host:port"]`; empty if no replica has this type.
std::string HostsJson(const Cluster& cluster, replica::v1::TaskType type, std::string_view name) {
  std::string hosts;
  for (const Endpoint& endpoint : cluster.endpoints()) {
    if (endpoint.replica().type() != type) continue;
    const std::string host = std::string(HostOf(cluster, endpoint)) + ":" + std::to_string(endpoint.port());
    hosts += (hosts.empty() ? "" : ", ") + Quote(host);
  }
  return hosts.empty() ? hosts : Quote(name) + ": [" + hosts + "]";
}

/// `{"master": ["host:port"], "ps": [...], "worker": [...]}`; roles without replicas are absent.
std::string ClusterJson(const Cluster& cluster, bool use_chief) {
  std::string json;
  for (const auto type : {replica::v1::MASTER, replica::v1::PARAMETER_SERVER, replica::v1::WORKER}) {
    const std::string hosts = HostsJson(cluster, type, TaskType(type, use_chief));
    if (!hosts.empty()) json += (json.empty() ? "" : ", ") + hosts;
  }
  return "{" + json + "}";
}

/// `{"workerpool0": ["host:port"], "workerpool1": [...]}`, evaluators included; roles without replicas are
/// absent.
std::string PoolsJson(const Cluster& cluster) {
  std::string json;
  for (const auto type :
       {replica::v1::MASTER, replica::v1::WORKER, replica::v1::PARAMETER_SERVER, replica::v1::EVALUATOR}) {
    const std::string hosts = HostsJson(cluster, type, PoolName(type));
    if (!hosts.empty()) json += (json.empty() ? "" : ", ") + hosts;
  }
  return "{" + json + "}";
}

/// `{"type": "worker", "index": 0}`, with "trial" in a tuning job and "cloud" where Google's runner puts it.
std::string TaskJson(const Manifest& manifest, std::string_view type, bool with_cloud) {
  std::string json =
      "{\"type\": " + Quote(type) + ", \"index\": " + std::to_string(manifest.replica().index());
  if (!manifest.trial_id().empty()) json += ", \"trial\": " + Quote(manifest.trial_id());
  if (with_cloud) json += ", \"cloud\": " + Quote(manifest.project());
  return json + "}";
}

/// The job as an object for packages; for containers, as a string with the object's JSON.
std::string JobJson(const Manifest& manifest) {
  const std::string json = manifest.job_json().empty() ? "{}" : manifest.job_json();
  return IsPackageJob(manifest) ? json : Quote(json);
}

std::string ConfigJson(const Manifest& manifest, const Cluster& cluster, bool use_chief) {
  const bool with_cloud = IsPackageJob(manifest) && !manifest.vertex_variables();
  return "{\"cluster\": " + ClusterJson(cluster, use_chief) +
         ", \"task\": " + TaskJson(manifest, TaskType(manifest.replica().type(), use_chief), with_cloud) +
         ", \"job\": " + JobJson(manifest) + ", \"environment\": \"cloud\"}";
}

/// CLUSTER_SPEC of Vertex AI.
std::string PoolSpecJson(const Manifest& manifest, const Cluster& cluster) {
  return "{\"cluster\": " + PoolsJson(cluster) + ", \"environment\": \"cloud\", \"task\": " +
         TaskJson(manifest, PoolName(manifest.replica().type()), false) + ", \"job\": " + JobJson(manifest) +
         "}";
}

/// The number in "vertex_NUMBER"; any other id as it is.
std::string_view JobNumber(std::string_view job_id) {
  constexpr std::string_view kPrefix = "vertex_";
  if (!job_id.starts_with(kPrefix)) return job_id;
  const std::string_view number = job_id.substr(kPrefix.size());
  const bool is_number = !number.empty() && number.find_first_not_of("0123456789") == std::string_view::npos;
  return is_number ? number : job_id;
}

/// The hash in "cmle-training-POOL-HASH-INDEX", the replica's own host name; empty: it has no such name.
std::string_view ClusterHash(std::string_view host_name) {
  const std::string_view without_index = host_name.substr(0, host_name.rfind('-'));
  const std::size_t dash = without_index.rfind('-');
  return dash == std::string_view::npos ? std::string_view() : without_index.substr(dash + 1);
}

/// "CMLE_TRAINING_WORKERPOOL0_HASH_0": as Kubernetes names the variables of a service after its host name.
std::string ServiceName(const Endpoint& endpoint, std::string_view cluster_hash) {
  std::string name = PoolHostName(endpoint.replica(), cluster_hash);
  for (char& c : name) {
    if (c == '-') c = '_';
    if ('a' <= c && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return name;
}

/// The address of each replica, in variables of its own. The names do not depend on whether hosts have names.
void AddServices(const Manifest& manifest, const Cluster& cluster,
                 std::map<std::string, std::string>& variables) {
  const std::string_view hash = ClusterHash(manifest.host_name());
  if (hash.empty()) return;
  for (const Endpoint& endpoint : cluster.endpoints()) {
    const std::string name = ServiceName(endpoint, hash);
    variables[name + "_SERVICE_HOST"] = HostOf(cluster, endpoint);
    variables[name + "_SERVICE_PORT"] = std::to_string(endpoint.port());
  }
}

/// TF_CONFIG, and what PyTorch reads.
void AddGang(const Manifest& manifest, const Cluster& cluster,
             std::map<std::string, std::string>& variables) {
  const Endpoint& master = Master(cluster);
  variables["TF_CONFIG"] = ConfigJson(manifest, cluster, manifest.use_chief());
  variables["MASTER_ADDR"] = HostOf(cluster, master);
  variables["MASTER_PORT"] = std::to_string(master.port());
  const auto is_ranked = [](const Endpoint& endpoint) {
    const auto type = endpoint.replica().type();
    return type == replica::v1::MASTER || type == replica::v1::WORKER;
  };
  variables["WORLD_SIZE"] = std::to_string(std::ranges::count_if(cluster.endpoints(), is_ranked));
  if (manifest.replica().type() == replica::v1::MASTER) variables["RANK"] = "0";
  if (manifest.replica().type() == replica::v1::WORKER)
    variables["RANK"] = std::to_string(manifest.replica().index() + 1);
}

}  // namespace

bool UseChief(const ml::v1::TrainingInput& input, std::string_view runtime_version) {
  if (input.program_variables() == ml::v1::TrainingInput::VERTEX_AI) return true;
  if (!input.master_config().image_uri().empty()) return input.use_chief_in_tf_config();
  int major = 0;
  int minor = 0;
  const char* end = runtime_version.data() + runtime_version.size();
  const auto dot = std::from_chars(runtime_version.data(), end, major);
  if (dot.ptr != end && *dot.ptr == '.') std::from_chars(dot.ptr + 1, end, minor);
  return major > 2 || (major == 2 && minor >= 1);
}

std::map<std::string, std::string> ReplicaVariables(const Manifest& manifest, const Cluster& cluster,
                                                    int cpus) {
  const bool is_vertex = manifest.vertex_variables();
  std::map<std::string, std::string> variables = {
      {"CLUSTER_SPEC", is_vertex ? PoolSpecJson(manifest, cluster) : ConfigJson(manifest, cluster, false)},
      {"CLOUD_ML_JOB_ID", std::string(is_vertex ? JobNumber(manifest.job_id()) : manifest.job_id())},
      {"CLOUD_ML_PROJECT_ID", manifest.project()},
      {"CLOUD_ML_REGION", manifest.region()},
  };
  if (is_vertex) AddServices(manifest, cluster, variables);
  if (!is_vertex || cluster.endpoints_size() > 1) AddGang(manifest, cluster, variables);
  if (!manifest.trial_id().empty()) variables["CLOUD_ML_TRIAL_ID"] = manifest.trial_id();
  if (!manifest.metric_tag().empty()) {
    variables["CLOUD_ML_HP_METRIC_TAG"] = manifest.metric_tag();
    variables["CLOUD_ML_HP_METRIC_FILE"] = measurement::kMetricFile;
  }
  if (IsPackageJob(manifest)) {
    variables["KMP_BLOCKTIME"] = "0";
    variables["KMP_AFFINITY"] = "granularity=fine,verbose,compact,1,0";
    variables["KMP_SETTINGS"] = "1";
    variables["OMP_NUM_THREADS"] = std::to_string(cpus);
  }
  return variables;
}

std::string RunnerArguments(const Manifest& manifest, const Cluster& cluster) {
  const bool use_chief = manifest.use_chief();
  return "--cluster=" + ClusterJson(cluster, use_chief) +
         " --task=" + TaskJson(manifest, TaskType(manifest.replica().type(), use_chief), false) +
         " --job=" + JobJson(manifest);
}

}  // namespace trainyard::cluster
