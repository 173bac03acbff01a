#pragma once

#include <map>
#include <string>
#include <string_view>

#include "trainyard/ml/v1/ml.pb.h"
#include "trainyard/replica/v1/replica.pb.h"

/// The variables and arguments that tell a replica's program about its cluster. Pure: any thread. Source:
/// spec environment.md sections 1, 2, 3, 5, 7; for manifest.vertex_variables spec vertex.md section 4.
namespace trainyard::cluster {

/// Whether TF_CONFIG calls the master "chief". `runtime_version` is the resolved runtimeVersion: "2.15". With
/// a custom container useChiefInTfConfig alone decides; without one the version alone decides: 2.1 and later
/// have a chief. With the variables of Vertex AI (programVariables) there is always a chief.
[[nodiscard]] bool UseChief(const ml::v1::TrainingInput& input, std::string_view runtime_version);

/// The variables that come from the job and its cluster: TF_CONFIG, CLUSTER_SPEC, MASTER_ADDR, MASTER_PORT,
/// WORLD_SIZE, RANK, CLOUD_ML_JOB_ID, CLOUD_ML_PROJECT_ID, CLOUD_ML_REGION, CLOUD_ML_TRIAL_ID,
/// CLOUD_ML_HP_METRIC_TAG and CLOUD_ML_HP_METRIC_FILE (trials only) and, for Python packages, OMP_NUM_THREADS
/// and KMP_*. manifest.environment is not included: the caller adds it last.
///
/// The manifest's replica is one of the cluster's; the cluster has a master. Hosts are given by host name, or
/// by address if an endpoint has no host name (because names do not resolve). The address of a job with one
/// replica is 127.0.0.1. Evaluators are never in the cluster. WORLD_SIZE counts master and workers; parameter
/// servers and evaluators have no RANK. `cpus`: the number of this replica's CPUs, at least 1.
///
/// With manifest.vertex_variables CLUSTER_SPEC has Vertex AI's form: "workerpool0" to "workerpool3"
/// (PoolName), evaluators included. Then only jobs of several replicas have TF_CONFIG, MASTER_ADDR,
/// MASTER_PORT, WORLD_SIZE and RANK, and CLOUD_ML_JOB_ID of the job "vertex_NUMBER" is the number. Each
/// replica of the cluster has two more variables, "CMLE_TRAINING_WORKERPOOL0_HASH_0_SERVICE_HOST" and
/// "_SERVICE_PORT", with the hash of the manifest's host name.
[[nodiscard]] std::map<std::string, std::string> ReplicaVariables(const replica::v1::Manifest& manifest,
                                                                  const replica::v1::Cluster& cluster,
                                                                  int cpus);

/// `--cluster={...} --task={...} --job={...}`: what follows "Running task with arguments: " in a replica's
/// log (spec lifecycle.md section 6, line 7).
[[nodiscard]] std::string RunnerArguments(const replica::v1::Manifest& manifest,
                                          const replica::v1::Cluster& cluster);

}  // namespace trainyard::cluster
