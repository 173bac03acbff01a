#include "control/manifest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <charconv>

#include "base/check.h"
#include "cluster/task_name.h"
#include "cluster/tf_config.h"
#include "control/access_token.h"
#include "wire/json.h"
#include "wire/metadata_host.h"

namespace trainyard::control {

namespace {

std::string Hex(const unsigned char* bytes, unsigned size) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (unsigned i = 0; i < size; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

template <class Number>
bool ParseNumber(std::string_view text, Number& number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && number > 0;
}

replica::v1::Manifest::Program MakeProgram(const v1::JobRecord& job) {
  const ml::v1::TrainingInput& input = job.job().training_input();
  replica::v1::Manifest::Program program;
  program.set_runtime_version(job.runtime_version());
  *program.mutable_packages() = job.packages();
  program.set_python_module(input.python_module());
  *program.mutable_args() = input.args();
  if (!input.job_dir().empty()) {
    program.add_args("--job-dir");
    program.add_args(input.job_dir());
  }
  return program;
}

/// In a network of its own a replica has the front on its own loopback, whatever the machine's ports are.
void AddGoogleFront(const Settings& settings, replica::v1::Manifest& manifest) {
  if (!settings.google_front) return;
  const bool isolated = manifest.network() == replica::v1::Manifest::ISOLATED;
  replica::v1::GoogleFront& front = *manifest.mutable_google_front();
  front = *settings.google_front;
  if (isolated) front.set_address("127.0.0.1");
  if (front.address().empty() || (!isolated && !settings.front_metadata)) return;
  front.add_host_names(std::string(wire::kGoogleMetadataHost));
  front.add_host_names(MetadataHostName(settings, manifest.attempt_id()));
}

}  // namespace

std::string AttemptId(const v1::JobRecord& job, int replica, int attempt) {
  return std::to_string(job.uid()) + "-" + cluster::TaskName(job.replicas(replica).id()) + "-" +
         std::to_string(attempt);
}

std::optional<AttemptName> ParseAttemptId(std::string_view text) {
  std::size_t first = text.find('-');
  std::size_t last = text.rfind('-');
  if (first == std::string_view::npos || last <= first + 1) return std::nullopt;
  AttemptName name{.task_name = std::string(text.substr(first + 1, last - first - 1))};
  if (!ParseNumber(text.substr(0, first), name.job_uid) || !ParseNumber(text.substr(last + 1), name.attempt))
    return std::nullopt;
  return name;
}

replica::v1::Manifest BareManifest(const Settings& settings, const std::string& attempt_id) {
  replica::v1::Manifest manifest;
  manifest.set_attempt_id(attempt_id);
  manifest.mutable_places()->set_attempt_dir(settings.attempts_dir + "/" + attempt_id);
  return manifest;
}

replica::v1::Manifest MakeManifest(const Settings& settings, const v1::JobRecord& job, int replica,
                                   int attempt) {
  const v1::ReplicaRecord& record = job.replicas(replica);
  const ml::v1::TrainingInput& input = job.job().training_input();
  replica::v1::Manifest manifest;
  manifest.set_project(job.project());
  manifest.set_job_id(job.job().job_id());
  manifest.set_job_uid(job.uid());
  *manifest.mutable_replica() = record.id();
  manifest.set_attempt(attempt);
  manifest.set_attempt_id(AttemptId(job, replica, attempt));
  manifest.set_token(AttemptToken(settings, manifest.attempt_id()));
  manifest.set_task_name(cluster::TaskName(record.id()));
  manifest.set_region(input.region());
  *manifest.mutable_program() = MakeProgram(job);
  manifest.mutable_places()->set_attempt_dir(settings.attempts_dir + "/" + manifest.attempt_id());
  manifest.mutable_places()->set_environments_dir(settings.environments_dir);
  manifest.mutable_places()->set_server_socket(settings.server_socket);
  manifest.mutable_limits()->set_stop_grace_ms(settings.stop_grace.count());
  manifest.set_network(record.endpoint().port() == kIsolatedPort ? replica::v1::Manifest::ISOLATED
                                                                 : replica::v1::Manifest::HOST);
  manifest.set_address(record.endpoint().address());
  manifest.set_port(record.endpoint().port());
  manifest.set_host_name(record.endpoint().host_name());
  manifest.mutable_environment()->insert(settings.replica_environment.begin(),
                                         settings.replica_environment.end());
  manifest.set_job_json(wire::PrintJsonProtoNames(input));
  if (record.has_devices() && !record.devices().accelerator_type().empty())
    *manifest.mutable_devices() = record.devices();
  manifest.set_use_chief(cluster::UseChief(input, job.runtime_version()));
  AddGoogleFront(settings, manifest);
  return manifest;
}

replica::v1::Cluster MakeCluster(const v1::JobRecord& job) {
  replica::v1::Cluster cluster;
  for (const v1::ReplicaRecord& record : job.replicas()) *cluster.add_endpoints() = record.endpoint();
  return cluster;
}

std::string AttemptToken(const Settings& settings, const std::string& attempt_id) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  const unsigned char* made = HMAC(
      EVP_sha256(), settings.secret.data(), static_cast<int>(settings.secret.size()),
      reinterpret_cast<const unsigned char*>(attempt_id.data()), attempt_id.size(), digest.data(), &size);
  TY_CHECK(made != nullptr);
  return Hex(digest.data(), size);
}

bool IsAttemptToken(const Settings& settings, const std::string& attempt_id, std::string_view token) {
  std::string expected = AttemptToken(settings, attempt_id);
  return token.size() == expected.size() && CRYPTO_memcmp(token.data(), expected.data(), token.size()) == 0;
}

}  // namespace trainyard::control
