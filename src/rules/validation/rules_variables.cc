#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "base/text/secret_mask.h"
#include "rules/cluster/role.h"
#include "rules/validation/rules.h"

namespace trainyard::jobs::rules {
namespace {

constexpr int kVariablesMax = 100;
/// Names and values together: far below Linux's limit for all variables of a process.
constexpr std::size_t kVariableBytesMax = std::size_t{32} << 10;

/// The replica's place in its cluster. A job with the variables of Vertex AI can replace them.
constexpr std::array<std::string_view, 6> kOfCluster = {"TF_CONFIG",   "CLUSTER_SPEC", "MASTER_ADDR",
                                                        "MASTER_PORT", "WORLD_SIZE",   "RANK"};
constexpr std::string_view kOfService = "CLOUD_ML_";  ///< a prefix; such a job can replace these, too

/// Variables that the service sets or may set in every replica, and a job cannot set: its value would have no
/// effect or break the replica.
constexpr std::array<std::string_view, 28> kReserved = {
    "HOSTNAME",
    // its devices
    "TPU_CONFIG", "KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER",
    "NVIDIA_VISIBLE_DEVICES", "LD_LIBRARY_PATH",
    // its files and its Python
    "HOME", "TMPDIR", "PATH", "PYTHONPATH", "VIRTUAL_ENV", "TRAINYARD_LOG_FD",
    // the addresses of buckets, the metadata server and the front
    "STORAGE_EMULATOR_HOST", "GOOGLE_CLOUD_PROJECT", "GCE_METADATA_HOST", "GCE_METADATA_IP",
    "GCE_METADATA_ROOT", "GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE",
    "HTTPLIB2_CA_CERTS", "NODE_EXTRA_CA_CERTS", "CURL_CA_BUNDLE", "CURL_HOME", "BOTO_CONFIG",
    // variables that would break Python's search for modules
    "PYTHONHOME", "LD_PRELOAD"};
/// Tools of Google's, and where the measurements of a trial are read from.
constexpr std::array<std::string_view, 2> kReservedPrefixes = {"CLOUDSDK_", "CLOUD_ML_HP_"};

bool IsVariableName(std::string_view name) {
  const auto is_letter = [](char c) { return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || c == '_'; };
  return !name.empty() && is_letter(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return is_letter(c) || ('0' <= c && c <= '9'); });
}

bool IsReserved(std::string_view name, bool is_vertex) {
  const auto begins = [name](std::string_view prefix) { return name.starts_with(prefix); };
  if (std::ranges::find(kReserved, name) != kReserved.end()) return true;
  if (std::ranges::any_of(kReservedPrefixes, begins)) return true;
  return !is_vertex &&
         (std::ranges::find(kOfCluster, name) != kOfCluster.end() || name.starts_with(kOfService));
}

/// The variables of a job, or of one of its roles.
struct VariableList {
  const google::protobuf::RepeatedPtrField<ml::v1::EnvVar>& variables;
  std::string field;  ///< "worker_config.env"
  std::string owner;  ///< "job"
  bool is_vertex;
};

Status CheckName(const std::string& name, bool is_new, bool is_vertex, const std::string& field) {
  if (!IsVariableName(name)) {
    return Invalid(field,
                   "A variable's name has letters, digits and underscores and does not begin with a digit.");
  }
  if (IsReserved(name, is_vertex)) return Invalid(field, "The variable " + name + " is set by the service.");
  if (!is_new) return Invalid(field, "The variable " + name + " is given twice.");
  return {};
}

/// Messages never contain the value of a variable: it may be meant to be secret.
Status CheckValue(const ml::v1::EnvVar& variable, const std::string& field) {
  if (variable.value().find('\0') != std::string::npos)
    return Invalid(field, "The value of " + variable.name() + " must not contain a NUL character.");
  if (!variable.secret()) return {};
  if (variable.value().empty()) {
    return Invalid(field,
                   "The secret " + variable.name() +
                       " has no value. Secrets are not kept with the job: each request that creates one "
                       "gives their values.");
  }
  if (text::MaskedPieces(variable.value()).empty()) {
    return Invalid(field, "The value of the secret " + variable.name() +
                              " is too short to be hidden in a log: "
                              "one of its lines must have at least " +
                              std::to_string(text::kMaskedBytesMin) + " characters.");
  }
  return {};
}

Violations CheckList(const VariableList& list) {
  const auto& variables = list.variables;
  if (variables.size() > kVariablesMax)
    return {InvalidArgument(list.field, "A " + list.owner + " can have at most " +
                                            std::to_string(kVariablesMax) + " variables.")};
  Violations found;
  std::set<std::string_view> names;
  std::size_t bytes = 0;
  for (int i = 0; i < variables.size(); ++i) {
    const ml::v1::EnvVar& variable = variables[i];
    const std::string field = list.field + "[" + std::to_string(i) + "]";
    const bool is_new = names.insert(variable.name()).second;
    Add(CheckName(variable.name(), is_new, list.is_vertex, field + ".name"), found);
    Add(CheckValue(variable, field + ".value"), found);
    bytes += variable.name().size() + variable.value().size();
  }
  if (bytes > kVariableBytesMax) {
    Add(Invalid(list.field, "The names and values of a " + list.owner + "'s variables can have at most " +
                                std::to_string(kVariableBytesMax) + " bytes together; these have " +
                                std::to_string(bytes) + "."),
        found);
  }
  return found;
}

/// Only the job's own secrets are stored separately.
Status CheckNoSecrets(const VariableList& list) {
  const auto secret = std::ranges::find(list.variables, true, &ml::v1::EnvVar::secret);
  if (secret == list.variables.end()) return {};
  return Invalid(list.field, "The variable " + secret->name() +
                                 " of a role cannot be a secret: give it in trainingInput.env.");
}

}  // namespace

Violations Variables(const Job& job, const ValidationContext&) {
  const ml::v1::TrainingInput& input = job.training_input();
  const bool is_vertex = input.program_variables() == ml::v1::TrainingInput::VERTEX_AI;
  Violations found =
      CheckList({.variables = input.env(), .field = "env", .owner = "job", .is_vertex = is_vertex});
  for (const cluster::Role& role : cluster::Roles(input)) {
    const VariableList list{.variables = role.config.env(),
                            .field = std::string(role.field) + "_config.env",
                            .owner = "role",
                            .is_vertex = is_vertex};
    const Status no_secrets = CheckNoSecrets(list);
    if (no_secrets)
      std::ranges::move(CheckList(list), std::back_inserter(found));
    else
      Add(no_secrets, found);
  }
  return found;
}

}  // namespace trainyard::jobs::rules
